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
    AddKept();
    chained_ = AddTensor(4);
    const int num_matrices = 1 + static_cast<int>(random_() % 3);
    AddMatrix(/*target_dim=*/1);  // so that all ranks send to all
    for (int i = 1; i < num_matrices; ++i) {
      AddMatrix(static_cast<int>(random_() % 2));
    }
    AddChain();
    ForEachRank([](RankClaims&, Program& program) {
      program.operations.push_back(Join());
    });
    for (int step = 1; step < 8; ++step) AddExchange(step);
    ForEachRank([&](RankClaims& rank, Program& program) {
      program.operations.push_back(Join());
      for (const Piece& piece : rank.source) {
        if (piece.tensor == kept_) continue;
        program.operations.push_back(Free({piece}, Bytes(piece)));
      }
      program.operations.push_back(Release(0, 64));
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

  int AddTensor(int64_t item_bytes) {
    sample_.claims.item_bytes.push_back(item_bytes);
    return static_cast<int>(sample_.claims.item_bytes.size()) - 1;
  }

  int64_t Bytes(const Piece& piece) const {
    return piece.region.num_elements() *
           sample_.claims.item_bytes[piece.tensor];
  }

  void AddKept() {
    kept_ = AddTensor(8);
    const Piece piece = {kept_, *Box::Whole({5})};
    ForEachRank([&](RankClaims& rank, Program& program) {
      rank.source.push_back(piece);
      rank.target.push_back(piece);
      program.operations.push_back(Adopt({piece}, Bytes(piece)));
    });
  }

  void AddMatrix(int target_dim) {
    const int tensor = AddTensor(random_() % 2 == 0 ? 2 : 4);
    const int64_t n = num_ranks_;
    const Box whole = *Box::Whole({n * 3, n * 2});
    for (int64_t rank = 0; rank < n; ++rank) {
      RankClaims& claims = sample_.claims.ranks[rank];
      const vps::Interval rows = {rank * 3, rank * 3 + 3};
      claims.source.push_back({tensor, whole.With(0, rows)});
      // By columns, or by rows in another order.
      const int64_t place = (rank + 1) % n;
      const Piece target = {
          tensor, target_dim == 1 ? whole.With(1, {rank * 2, rank * 2 + 2})
                                  : whole.With(0, {place * 3, place * 3 + 3})};
      claims.target.push_back(target);
      Program& program = sample_.programs[rank];
      program.operations.push_back(Allocate({target}, Bytes(target)));
      const std::optional<Box> kept =
          vps::Intersect(claims.source.back().region, target.region);
      if (kept.has_value()) {
        const Piece piece = {tensor, *kept};
        program.operations.push_back(Copy({piece}, Bytes(piece)));
      }
    }
  }

  void AddChain() {
    const Piece piece = {chained_, *Box::Whole({7})};
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
                                             /*channel=*/1));
      }
      if (program.rank + 1 < num_ranks_) {
        program.operations.push_back(
            Send(program.rank + 1, {piece}, Bytes(piece), kChainLane,
                 /*channel=*/1,
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
      const Pieces sent = Common(rank.source, other.target);
      const Pieces received = Common(other.source, rank.target);
      if (!sent.empty()) {
        out.push_back(Send(peer, sent, Sum(sent), kExchangeLane));
      }
      if (!received.empty()) {
        out.push_back(Receive(peer, received, Sum(received), kExchangeLane));
      }
      out.push_back(GroupEnd(kExchangeLane));
    });
  }

  Pieces Common(const std::vector<Piece>& source,
                const std::vector<Piece>& target) const {
    Pieces pieces;
    for (const Piece& a : source) {
      for (const Piece& b : target) {
        if (a.tensor != b.tensor || a.tensor == kept_ || a.tensor == chained_) {
          continue;
        }
        const std::optional<Box> common = vps::Intersect(a.region, b.region);
        if (common.has_value()) pieces.push_back({a.tensor, *common});
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
  int kept_ = -1;
  int chained_ = -1;
  Sample sample_;
};

}  // namespace

Sample MakeSample(std::mt19937_64& random) { return Maker(random).Make(); }

}  // namespace dynatrain::transition
