#include "transition/schedule/moves.h"

#include <algorithm>
#include <optional>
#include <string>
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

absl::Status CheckMove(const Move& move, int num_ranks, int num_tensors) {
  for (const int rank : {move.sender, move.receiver}) {
    if (rank < 0 || rank >= num_ranks) {
      return absl::InvalidArgumentError(absl::StrCat(Name(move), " names rank ",
                                                     rank, "; ranks are 0 to ",
                                                     num_ranks - 1));
    }
  }
  if (move.piece.tensor < 0 || move.piece.tensor >= num_tensors) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(move), ": there are ", num_tensors, " tensors"));
  }
  if (move.piece.region.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(Name(move), " is empty"));
  }
  if (move.adopted && move.sender != move.receiver) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(move), " is adopted, but does not stay"));
  }
  return absl::OkStatus();
}

}  // namespace

Moves::Moves(int num_ranks, std::vector<int64_t> item_bytes,
             std::vector<Move> moves)
    : num_ranks_(num_ranks),
      item_bytes_(std::move(item_bytes)),
      moves_(std::move(moves)) {}

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
  int64_t left = kMaxTrafficBytes;
  for (const Move& move : moves) {
    RETURN_IF_ERROR(
        CheckMove(move, num_ranks, static_cast<int>(item_bytes.size())));
    const std::optional<int64_t> bytes = vps::CheckedMultiply(
        move.piece.region.num_elements(), item_bytes[move.piece.tensor]);
    if (!bytes.has_value() || *bytes > left) {
      return absl::OutOfRangeError(absl::StrCat(
          "moves are more than ", kMaxTrafficBytes, " bytes (2^52)"));
    }
    left -= *bytes;
  }
  std::sort(moves.begin(), moves.end());
  return Moves(num_ranks, std::move(item_bytes), std::move(moves));
}

absl::Span<const Move> Moves::Between(int sender, int receiver) const {
  const auto [begin, end] =
      std::equal_range(moves_.begin(), moves_.end(), Move{sender, receiver},
                       [](const Move& a, const Move& b) {
                         return std::pair(a.sender, a.receiver) <
                                std::pair(b.sender, b.receiver);
                       });
  return absl::MakeConstSpan(moves_).subspan(begin - moves_.begin(),
                                             end - begin);
}

Traffic Moves::ToTraffic() const {
  std::vector<Flow> flows;
  for (const Move& move : moves_) {
    if (move.sender == move.receiver) continue;
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
