#include "transition/stage/rank_totals.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/schedule/traffic.h"
#include "transition/stage/whole_tasks.h"
#include "vps/geometry/box.h"
#include "vps/geometry/checked.h"
#include "vps/geometry/region.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// Source memory that a move reads or adopts.
struct Read {
  int tensor = 0;
  int copy = 0;
  const Box* region = nullptr;
};

bool operator<(const Read& a, const Read& b) {
  if (a.tensor != b.tensor) return a.tensor < b.tensor;
  if (a.copy != b.copy) return a.copy < b.copy;
  return *a.region < *b.region;
}

// By rank, sorted.
std::vector<std::vector<Read>> ReadsOf(const Moves& moves) {
  std::vector<std::vector<Read>> reads(moves.num_ranks());
  for (const Move& move : moves.all()) {
    if (move.zero || move.space != Space::kSource) continue;
    reads[move.sender].push_back(
        {move.piece.tensor, move.source_copy, &move.piece.region});
  }
  for (std::vector<Read>& of_rank : reads) {
    std::sort(of_rank.begin(), of_rank.end());
  }
  return reads;
}

// What the sorted reads leave of the piece.
void AppendUnread(int rank, const Piece& piece, absl::Span<const Read> reads,
                  std::vector<RankPiece>& unused) {
  const auto [begin, end] = std::equal_range(
      reads.begin(), reads.end(), Read{piece.tensor, piece.copy},
      [](const Read& a, const Read& b) {
        return std::tie(a.tensor, a.copy) < std::tie(b.tensor, b.copy);
      });
  std::vector<Box> left = {piece.region};
  const Box* last = nullptr;
  for (auto it = begin; it != end && !left.empty(); ++it) {
    if (last != nullptr && *last == *it->region) continue;
    last = it->region;
    std::vector<Box> rest;
    for (const Box& box : left) {
      const vps::Region parts = vps::Subtract(box, *it->region);
      rest.insert(rest.end(), parts.begin(), parts.end());
    }
    left = std::move(rest);
  }
  for (const Box& box : left) {
    unused.push_back({rank, {piece.tensor, box, piece.copy}});
  }
}

absl::Status CheckBuffers(absl::string_view name, size_t num_pieces,
                          absl::Span<const int> buffers) {
  if (!buffers.empty() && buffers.size() != num_pieces) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, "_buffers has ", buffers.size(), " entries for ",
                     num_pieces, " pieces; give one for each, or none"));
  }
  for (const int buffer : buffers) {
    if (buffer >= kByExtents && buffer < static_cast<int>(num_pieces)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        name, "_buffers names buffer ", buffer, "; buffers are 0 to ",
        num_pieces - 1, ", or -1 for memory by extents"));
  }
  return absl::OkStatus();
}

// Their bytes together too, so that no sum overflows.
absl::Status CheckPieces(absl::string_view name, const Moves& moves,
                         absl::Span<const Piece> pieces) {
  int64_t left = kMaxTrafficBytes;
  for (const Piece& piece : pieces) {
    if (piece.tensor < 0 ||
        piece.tensor >= static_cast<int>(moves.item_bytes().size())) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " names tensor ", piece.tensor, "; there are ",
                       moves.item_bytes().size()));
    }
    const std::optional<int64_t> bytes = vps::CheckedMultiply(
        piece.region.num_elements(), moves.item_bytes(piece.tensor));
    if (!bytes.has_value() || *bytes > left) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is more than ", kMaxTrafficBytes, " bytes"));
    }
    left -= *bytes;
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(const RankMemory& memory) {
  constexpr int64_t kMax = int64_t{1} << 40;
  if (memory.extent_bytes < 1 || memory.extent_bytes > kMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("extent_bytes is ", memory.extent_bytes,
                     "; it must be from 1 to 2^40"));
  }
  if (memory.extent_bytes == 1 || !AnyWhole({memory})) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("extent_bytes is ", memory.extent_bytes,
                   " and some buffers count as a whole; it must be 1 then"));
}

absl::Status CheckRank(const Moves& moves, const RankMemory& memory) {
  RETURN_IF_ERROR(CheckPieces("source", moves, memory.source));
  RETURN_IF_ERROR(CheckPieces("target", moves, memory.target));
  RETURN_IF_ERROR(
      CheckBuffers("source", memory.source.size(), memory.source_buffers));
  RETURN_IF_ERROR(
      CheckBuffers("target", memory.target.size(), memory.target_buffers));
  if (memory.dead_bytes < 0 || memory.dead_bytes > kMaxTrafficBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dead_bytes is ", memory.dead_bytes, "; it must be from 0 to 2^52"));
  }
  return CheckExtents(memory);
}

// Each extent has an entry in a table (extents.h): 1 GiB of them at most.
absl::Status CheckNumExtents(const WorldMemory& memory,
                             absl::Span<const RankTotals> totals) {
  constexpr int64_t kMaxExtents = int64_t{1} << 27;
  int64_t num_extents = 0;
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    const int64_t extent_bytes = memory[rank].extent_bytes;
    if (extent_bytes == 1) continue;
    num_extents += totals[rank].source_bytes / extent_bytes +
                   totals[rank].target_bytes / extent_bytes;
    if (num_extents <= kMaxExtents) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("extent_bytes is ", extent_bytes,
                     ", which makes more than ", kMaxExtents,
                     " extents; it must be larger (or 1: any "
                     "bytes)"));
  }
  return absl::OkStatus();
}

void AddLine(const Line& line, std::vector<RankTotals>& totals) {
  for (const RankRate& rate : line.rates) {
    RankTotals& it = totals[rate.rank];
    it.freed_bytes += rate.frees * line.bytes;
    it.made_bytes += rate.allocates * line.bytes;
    it.sent_bytes += rate.sends * line.bytes;
    it.received_bytes += rate.receives * line.bytes;
    it.relayed_bytes += rate.relays * line.bytes;
    it.memory_weight +=
        std::max(rate.frees, rate.allocates) + 2 * rate.allocates;
    it.relay_weight += 2 * rate.relays;
    it.port_weight += rate.sends + rate.receives;
  }
}

absl::Status CheckSums(const RankTotals& it) {
  const int64_t read = it.source_bytes - it.unused_bytes;
  if (it.adopted_bytes + it.freed_bytes != read) {
    return absl::InvalidArgumentError(
        absl::StrCat("moves read ", it.adopted_bytes + it.freed_bytes,
                     " bytes of its source memory, of which it holds ", read));
  }
  const int64_t written = it.adopted_bytes + it.made_bytes + it.zero_bytes;
  if (written == it.target_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("moves write ", written,
                   " bytes of its target memory, which has ", it.target_bytes));
}

}  // namespace

std::vector<RankPiece> UnusedPieces(const Moves& moves,
                                    const WorldMemory& memory) {
  const auto reads = ReadsOf(moves);
  std::vector<RankPiece> unused;
  for (int rank = 0; rank < moves.num_ranks(); ++rank) {
    for (const Piece& piece : memory[rank].source) {
      AppendUnread(rank, piece, reads[rank], unused);
    }
  }
  return unused;
}

absl::StatusOr<std::vector<RankTotals>> TotalsOf(const Moves& moves,
                                                 const Lines& lines,
                                                 const WorldMemory& memory) {
  if (static_cast<int>(memory.size()) != moves.num_ranks()) {
    return absl::InvalidArgumentError(absl::StrCat("memory of ", memory.size(),
                                                   " ranks for moves among ",
                                                   moves.num_ranks()));
  }
  std::vector<RankTotals> totals(memory.size());
  for (size_t rank = 0; rank < memory.size(); ++rank) {
    RETURN_IF_ERROR(CheckRank(moves, memory[rank]),
                    absl::StrCat("memory of rank ", rank));
    RankTotals& it = totals[rank];
    for (const Piece& piece : memory[rank].source) {
      it.source_bytes += moves.BytesOf(piece);
    }
    for (const Piece& piece : memory[rank].target) {
      it.target_bytes += moves.BytesOf(piece);
    }
  }
  RETURN_IF_ERROR(CheckNumExtents(memory, totals));
  for (const Move& move : moves.all()) {
    RankTotals& it = totals[move.receiver];
    if (move.adopted) it.adopted_bytes += moves.BytesOf(move.piece);
    if (move.zero) it.zero_bytes += moves.BytesOf(move.piece);
  }
  for (const Line& line : lines.lines) AddLine(line, totals);
  for (const RankPiece& it : UnusedPieces(moves, memory)) {
    totals[it.rank].unused_bytes += moves.BytesOf(it.piece);
  }
  for (size_t rank = 0; rank < totals.size(); ++rank) {
    RETURN_IF_ERROR(CheckSums(totals[rank]),
                    absl::StrCat("memory of rank ", rank));
  }
  return totals;
}

}  // namespace dynatrain::transition
