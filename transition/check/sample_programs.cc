#include "transition/check/sample_programs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/fingerprint.h"
#include "vps/geometry/box.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

constexpr int kExchangeLane = 1;
constexpr int kChainLane = 2;
constexpr int kHandLane = 3;

class Maker {
 public:
  explicit Maker(std::mt19937_64& random)
      : random_(random), num_ranks_(3 + static_cast<int>(random() % 4)) {
    sample_.claims.plan_digest = FingerprintOf("sample");
    sample_.claims.ranks.resize(num_ranks_);
    for (int rank = 0; rank < num_ranks_; ++rank) {
      sample_.programs.push_back(
          {rank, sample_.claims.plan_digest, {Reserve(0, 64)}});
    }
  }

  Sample Make() && {
    for (const int64_t item_bytes : {8, 4, 2, 4}) AddTensor(item_bytes);
    AddKept();
    AddPadded();
    const int num_matrices = 2 + static_cast<int>(random_() % 3);
    AddMatrix(/*target_dim=*/1, /*copy=*/0);  // so that all ranks send to all
    AddMatrix(/*target_dim=*/1, /*copy=*/1);
    for (int i = 2; i < num_matrices; ++i) {
      AddMatrix(static_cast<int>(random_() % 2),
                static_cast<int>(random_() % 2));
    }
    AddHanded();
    AddChain();
    ForEachRank([](RankClaims&, Program& program) {
      program.operations.push_back(Join());
    });
    for (int step = 1; step < 8; ++step) AddExchange(step);
    ForEachRank([&](RankClaims& rank, Program& program) {
      program.operations.push_back(Join());
      for (const Piece& piece : rank.source) {
        if (piece.tensor == kKeptTensor) continue;
        program.operations.push_back(Free({piece}, Bytes(piece)));
      }
      program.operations.push_back(Release(0, 64));
      if (program.rank == 1) {
        program.operations.push_back(Release(kHandBuffer, Bytes(Handed())));
      }
      rank.limit_bytes = Peak(rank, program);
    });
    return std::move(sample_);
  }

 private:
  template <typename Function>
  void ForEachRank(Function function) {
    for (int rank = 0; rank < num_ranks_; ++rank) {
      function(sample_.claims.ranks[rank], sample_.programs[rank]);
    }
  }

  std::vector<Operation>& Of(int rank) {
    return sample_.programs[rank].operations;
  }

  int AddTensor(int64_t item_bytes) {
    sample_.claims.item_bytes.push_back(item_bytes);
    return static_cast<int>(sample_.claims.item_bytes.size()) - 1;
  }

  int64_t Bytes(const Piece& piece) const {
    return piece.region.num_elements() *
           sample_.claims.item_bytes[piece.tensor];
  }

  void AddKept() {
    const Piece piece = {kKeptTensor, *Box::Whole({5})};
    const Piece second = {kKeptTensor, piece.region, /*copy=*/1};
    ForEachRank([&](RankClaims& rank, Program& program) {
      rank.source.push_back(piece);
      rank.target = {piece, second};
      program.operations.push_back(Adopt({piece}, Bytes(piece)));
      program.operations.push_back(Allocate({second}, Bytes(second)));
      program.operations.push_back(Copy({second}, Bytes(second)));
    });
  }

  // Three elements longer than the source.
  void AddPadded() {
    const Piece piece = {kPaddedTensor, *Box::Whole({5})};
    const Piece longer = {kPaddedTensor, *Box::Whole({8})};
    const Piece zero = {kPaddedTensor, *Box::Create({5}, {3})};
    ForEachRank([&](RankClaims& rank, Program& program) {
      rank.source.push_back(piece);
      rank.target.push_back(longer);
      rank.zeros.push_back(zero);
      program.operations.push_back(Allocate({longer}, Bytes(longer)));
      program.operations.push_back(Copy({piece}, Bytes(piece)));
      program.operations.push_back(Zero({zero}, Bytes(zero)));
    });
  }

  static Piece Handed() { return {kHandedTensor, *Box::Whole({6})}; }

  // Rank 1 passes it on and doesn't keep it.
  void AddHanded() {
    const Piece piece = Handed();
    const int64_t bytes = Bytes(piece);
    sample_.claims.ranks[0].source.push_back(piece);
    sample_.claims.ranks[2].target.push_back(piece);
    Of(1).push_back(Reserve(kHandBuffer, bytes));
    Of(2).push_back(Allocate({piece}, bytes));
    ForEachRank([](RankClaims&, Program& program) {
      program.operations.push_back(Join());
    });
    Of(0).push_back(Send(1, {piece}, bytes, kHandLane, kHandChannel));
    Of(1).push_back(
        ReceiveStaged(0, {piece}, bytes, kHandBuffer, kHandLane, kHandChannel));
    Of(1).push_back(
        SendStaged(2, {piece}, bytes, kHandBuffer, kHandLane, kHandChannel));
    Of(2).push_back(Receive(1, {piece}, bytes, kHandLane, kHandChannel));
  }

  void AddMatrix(int target_dim, int copy) {
    const int tensor = AddTensor(random_() % 2 == 0 ? 2 : 4);
    const int64_t n = num_ranks_;
    const Box whole = *Box::Whole({n * 3, n * 2});
    for (int64_t rank = 0; rank < n; ++rank) {
      RankClaims& claims = sample_.claims.ranks[rank];
      const vps::Interval rows = {rank * 3, rank * 3 + 3};
      claims.source.push_back({tensor, whole.With(0, rows)});
      // By columns, or by rows in another order.
      const int64_t place = (rank + 1) % n;
      const Piece target = {tensor,
                            target_dim == 1
                                ? whole.With(1, {rank * 2, rank * 2 + 2})
                                : whole.With(0, {place * 3, place * 3 + 3}),
                            copy};
      claims.target.push_back(target);
      Program& program = sample_.programs[rank];
      program.operations.push_back(Allocate({target}, Bytes(target)));
      const std::optional<Box> kept =
          vps::Intersect(claims.source.back().region, target.region);
      if (kept.has_value()) {
        const Piece piece = {tensor, *kept, copy};
        program.operations.push_back(Copy({piece}, Bytes(piece)));
      }
    }
  }

  void AddChain() {
    const Piece piece = {kChainedTensor, *Box::Whole({7})};
    ForEachRank([&](RankClaims& rank, Program& program) {
      rank.target.push_back(piece);
      program.operations.push_back(Allocate({piece}, Bytes(piece)));
      if (program.rank == 0) {
        rank.source.push_back(piece);
        program.operations.push_back(Copy({piece}, Bytes(piece)));
      }
      program.operations.push_back(Join());
      if (program.rank > 0) {
        program.operations.push_back(Receive(program.rank - 1, {piece},
                                             Bytes(piece), kChainLane,
                                             kChainChannel));
      }
      if (program.rank + 1 < num_ranks_) {
        program.operations.push_back(Send(
            program.rank + 1, {piece}, Bytes(piece), kChainLane, kChainChannel,
            program.rank == 0 ? Space::kSource : Space::kTarget));
      }
    });
  }

  // One message each way between ranks that differ by `step`.
  void AddExchange(int step) {
    ForEachRank([&](RankClaims& rank, Program& program) {
      const int peer = program.rank ^ step;
      if (peer >= num_ranks_) return;
      const RankClaims& other = sample_.claims.ranks[peer];
      std::vector<Operation>& out = program.operations;
      out.push_back(GroupBegin(step, kExchangeLane));
      const Pieces sent = Common(rank.source, other.target, End::kSender);
      const Pieces received = Common(other.source, rank.target, End::kReceiver);
      if (!sent.empty()) {
        out.push_back(Send(peer, sent, Sum(sent), kExchangeLane));
      }
      if (!received.empty()) {
        out.push_back(Receive(peer, received, Sum(received), kExchangeLane));
      }
      out.push_back(GroupEnd(kExchangeLane));
    });
  }

  enum class End { kSender, kReceiver };

  // Of matrices, what one end has and the other is to have, of `end`'s copies.
  Pieces Common(const std::vector<Piece>& source,
                const std::vector<Piece>& target, End end) const {
    Pieces pieces;
    for (const Piece& a : source) {
      for (const Piece& b : target) {
        if (a.tensor != b.tensor || a.region.dims() != 2) continue;
        const std::optional<Box> common = vps::Intersect(a.region, b.region);
        if (!common.has_value()) continue;
        pieces.push_back(
            {a.tensor, *common, end == End::kSender ? a.copy : b.copy});
      }
    }
    return pieces;
  }

  int64_t Sum(const Pieces& pieces) const {
    int64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += Bytes(piece);
    return bytes;
  }

  int64_t Peak(const RankClaims& rank, const Program& program) const {
    int64_t used = 0;
    for (const Piece& piece : rank.source) used += Bytes(piece);
    for (const Operation& it : program.operations) {
      if (it.kind == OperationKind::kAllocate ||
          it.kind == OperationKind::kReserve) {
        used += it.bytes;
      }
    }
    return used;  // nothing is given back before the last allocation
  }

  std::mt19937_64& random_;
  const int num_ranks_;
  Sample sample_;
};

}  // namespace

Sample MakeSample(std::mt19937_64& random) { return Maker(random).Make(); }

}  // namespace dynatrain::transition
