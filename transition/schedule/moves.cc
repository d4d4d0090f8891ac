#include "transition/schedule/moves.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"

namespace dynatrain::transition {
namespace {

std::string Name(const Move& move) {
  return absl::StrCat("the move of tensor ", move.piece.tensor, " ",
                      move.piece.region.DebugString(), " from rank ",
                      move.sender, " to rank ", move.receiver);
}

absl::Status Wrong(const Move& move, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(Name(move), " ", what));
}

absl::Status CheckRanks(const Move& move, int num_ranks) {
  for (const int rank : {move.sender, move.receiver, std::max(move.after, 0)}) {
    if (rank >= 0 && rank < num_ranks) continue;
    return Wrong(move, absl::StrCat("names rank ", rank, "; ranks are 0 to ",
                                    num_ranks - 1));
  }
  return absl::OkStatus();
}

// What is neither adopted nor zero nor passed on may do anything.
absl::Status CheckWays(const Move& move) {
  const bool stays = move.sender == move.receiver;
  if (move.adopted && !stays)
    return Wrong(move, "is adopted, but does not stay");
  if (move.zero && !stays) return Wrong(move, "is zero, but does not stay");
  if (move.adopted && move.zero) return Wrong(move, "is adopted and zero");
  if (move.adopted && move.source_copy != move.piece.copy) {
    return Wrong(move, absl::StrCat("is adopted as copy ", move.piece.copy,
                                    ", but is copy ", move.source_copy));
  }
  const bool plain = move.space == Space::kSource &&
                     move.into == Space::kTarget && move.stream == 0;
  if (stays && !plain) return Wrong(move, "stays, so no collective has it");
  if (move.into == Space::kSource)
    return Wrong(move, "goes into source memory");
  if ((move.space == Space::kSource) != (move.after == -1)) {
    return Wrong(move, absl::StrCat("reads ", SpaceName(move.space),
                                    " memory after rank ", move.after,
                                    "; after is -1 exactly for the source"));
  }
  return absl::OkStatus();
}

absl::Status CheckCopies(const Move& move) {
  const auto check = [&](Space space, int copy) {
    if (copy >= 0 && (space == Space::kStaging || copy < kMaxCopies)) {
      return absl::OkStatus();
    }
    return Wrong(move, absl::StrCat("has copy ", copy, " in ", SpaceName(space),
                                    " memory; copies are 0 ",
                                    space == Space::kStaging
                                        ? "or more"
                                        : absl::StrCat("to ", kMaxCopies - 1)));
  };
  RETURN_IF_ERROR(check(move.space, move.source_copy));
  return check(move.into, move.piece.copy);
}

absl::Status CheckMove(const Move& move, int num_ranks, int num_tensors) {
  RETURN_IF_ERROR(CheckRanks(move, num_ranks));
  if (move.piece.tensor < 0 || move.piece.tensor >= num_tensors) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(move), ": there are ", num_tensors, " tensors"));
  }
  if (move.piece.region.empty()) return Wrong(move, "is empty");
  if (move.stream < 0) {
    return Wrong(move, absl::StrCat("has stream ", move.stream,
                                    "; it may not be negative"));
  }
  RETURN_IF_ERROR(CheckCopies(move));
  return CheckWays(move);
}

bool SameStream(const Move& a, const Move& b) {
  return a.sender == b.sender && a.receiver == b.receiver &&
         a.stream == b.stream;
}

}  // namespace

bool operator<(const Move& a, const Move& b) {
  const auto key = [](const Move& it) {
    return std::tie(it.sender, it.receiver, it.stream, it.piece, it.source_copy,
                    it.adopted, it.zero, it.space, it.after, it.into);
  };
  return key(a) < key(b);
}

Moves::Moves(int num_ranks, ItemBytes item_bytes, std::vector<Move> moves)
    : num_ranks_(num_ranks),
      item_bytes_(std::move(item_bytes)),
      moves_(std::move(moves)) {
  offsets_.resize(moves_.size());
  for (size_t i = 1; i < moves_.size(); ++i) {
    if (!SameStream(moves_[i - 1], moves_[i])) continue;
    offsets_[i] = offsets_[i - 1] + BytesOf(moves_[i - 1].piece);
  }
}

absl::StatusOr<Moves> Moves::Create(int num_ranks,
                                    std::vector<int64_t> item_bytes,
                                    std::vector<Move> moves) {
  if (num_ranks < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "moves among ", num_ranks, " ranks; there must be at least 1"));
  }
  for (size_t i = 0; i < item_bytes.size(); ++i) {
    if (item_bytes[i] > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("moves: item_bytes of tensor ", i, " is ", item_bytes[i],
                     "; it must be at least 1"));
  }
  return CreateShared(
      num_ranks,
      std::make_shared<const std::vector<int64_t>>(std::move(item_bytes)),
      std::move(moves));
}

absl::StatusOr<Moves> Moves::With(std::vector<Move> moves) const {
  return CreateShared(num_ranks_, item_bytes_, std::move(moves));
}

absl::StatusOr<Moves> Moves::CreateShared(int num_ranks, ItemBytes item_bytes,
                                          std::vector<Move> moves) {
  int64_t left = kMaxTrafficBytes;
  for (const Move& move : moves) {
    RETURN_IF_ERROR(
        CheckMove(move, num_ranks, static_cast<int>(item_bytes->size())));
    const std::optional<int64_t> bytes = vps::CheckedMultiply(
        move.piece.region.num_elements(), (*item_bytes)[move.piece.tensor]);
    if (!bytes.has_value() || *bytes > left) {
      return absl::OutOfRangeError(absl::StrCat(
          "moves are more than ", kMaxTrafficBytes, " bytes (2^52)"));
    }
    left -= *bytes;
  }
  std::sort(moves.begin(), moves.end());
  for (size_t i = 1; i < moves.size(); ++i) {
    const Move& last = moves[i - 1];
    const Move& move = moves[i];
    if (SameStream(last, move) &&
        (last.space != move.space || last.into != move.into)) {
      return Wrong(move, "reads or writes another memory than its stream");
    }
  }
  return Moves(num_ranks, std::move(item_bytes), std::move(moves));
}

absl::Span<const Move> Moves::Between(int sender, int receiver,
                                      int stream) const {
  const auto key = [](const Move& it) {
    return std::tuple(it.sender, it.receiver, it.stream);
  };
  const auto [begin, end] = std::equal_range(
      moves_.begin(), moves_.end(),
      Move{.sender = sender, .receiver = receiver, .stream = stream},
      [&](const Move& a, const Move& b) { return key(a) < key(b); });
  return absl::MakeConstSpan(moves_).subspan(begin - moves_.begin(),
                                             end - begin);
}

Traffic Moves::ToTraffic() const {
  std::vector<Flow> flows;
  for (const Move& move : moves_) {
    if (move.sender == move.receiver || move.stream != 0) continue;
    if (flows.empty() || flows.back().sender != move.sender ||
        flows.back().receiver != move.receiver) {
      flows.push_back({move.sender, move.receiver, 0});
    }
    flows.back().bytes += BytesOf(move.piece);
  }
  // What Create checked is all that Traffic asks.
  return *Traffic::Create(num_ranks_, std::move(flows));
}

}  // namespace dynatrain::transition
