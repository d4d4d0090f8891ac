#include "transition/schedule/programs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "vps/geometry/box.h"
#include "vps/geometry/flat_interval.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// The elements of `piece` at the given row-major positions within it.
void AppendPositions(const Piece& piece, vps::Interval positions,
                     Pieces& pieces) {
  if (positions.size() == piece.region.num_elements()) {
    pieces.push_back(piece);
    return;
  }
  vps::ForEachBoxOfFlatInterval(
      piece.region.shape(), positions, [&](const Box& box) {
        Box moved = piece.region;
        for (int dim = 0; dim < box.dims(); ++dim) {
          const vps::Interval local = box.interval(dim);
          const int64_t origin = piece.region.origin(dim);
          moved = moved.With(dim, {origin + local.begin, origin + local.end});
        }
        pieces.push_back({piece.tensor, moved, piece.copy});
      });
}

class Emitter {
 public:
  Emitter(const Moves& moves, const Fingerprint& plan_digest)
      : moves_(moves), next_lane_(moves.num_ranks(), 1) {
    for (int rank = 0; rank < moves.num_ranks(); ++rank) {
      programs_.push_back({.rank = rank, .plan_digest = plan_digest});
    }
  }

  std::vector<Program> Make(absl::Span<const Schedule> schedules) && {
    for (const Move& move : moves_.all()) Prepare(move);
    for (const auto& [key, bytes] : buffers_) {
      Of(key.first).push_back(Reserve(key.second, bytes));
    }
    for (Program& program : programs_) program.operations.push_back(Join());
    for (int i = 0; i < static_cast<int>(schedules.size()); ++i) {
      Add(schedules[i], i);
    }
    int joined = -1;
    for (const auto& [key, bytes] : buffers_) {
      if (key.first != joined) Of(key.first).push_back(Join());
      joined = key.first;
      Of(key.first).push_back(Release(key.second, bytes));
    }
    return std::move(programs_);
  }

 private:
  std::vector<Operation>& Of(int rank) { return programs_[rank].operations; }

  void Prepare(const Move& move) {
    const int64_t bytes = moves_.BytesOf(move.piece);
    std::vector<Operation>& out = Of(move.receiver);
    if (move.into == Space::kStaging) {
      buffers_[{move.receiver, move.stream}] += bytes;
      return;
    }
    if (move.adopted) {
      out.push_back(Adopt({move.piece}, bytes));
      return;
    }
    out.push_back(Allocate({move.piece}, bytes));
    if (move.zero) {
      out.push_back(Zero({move.piece}, bytes));
    } else if (move.sender == move.receiver) {
      out.push_back(Copy({move.piece}, bytes, /*lane=*/0, move.source_copy));
    }
  }

  void Add(const Schedule& schedule, int channel) {
    lane_.assign(moves_.num_ranks(), -1);
    if (schedule.windowed()) return AddWindows(schedule, channel);
    for (const Parcel& parcel : schedule.parcels) {
      AddMessage(parcel, channel, LaneOf(parcel.sender),
                 LaneOf(parcel.receiver) + 1);
    }
  }

  void AddWindows(const Schedule& schedule, int channel) {
    std::vector<int> open_in(moves_.num_ranks(), -1);
    for (int window = 0; window < schedule.num_windows(); ++window) {
      std::vector<int> ranks;
      for (const Parcel& parcel : schedule.window(window)) {
        for (const int rank : {parcel.sender, parcel.receiver}) {
          if (open_in[rank] == window) continue;
          open_in[rank] = window;
          ranks.push_back(rank);
          Of(rank).push_back(GroupBegin(window, LaneOf(rank)));
        }
        AddMessage(parcel, channel, LaneOf(parcel.sender),
                   LaneOf(parcel.receiver));
      }
      for (const int rank : ranks) Of(rank).push_back(GroupEnd(LaneOf(rank)));
    }
  }

  // The first of the rank's two lanes of the schedule that is being added.
  int LaneOf(int rank) {
    if (lane_[rank] < 0) {
      lane_[rank] = next_lane_[rank];
      next_lane_[rank] += 2;
    }
    return lane_[rank];
  }

  void AddMessage(const Parcel& parcel, int channel, int send_lane,
                  int receive_lane) {
    ParcelPieces pieces = PiecesOf(moves_, parcel);
    if (pieces.sent.empty()) return;  // less than an element, at both ends
    // All moves of a stream are alike in this.
    const Move& first =
        moves_.Between(parcel.sender, parcel.receiver, parcel.stream)[0];
    Operation send =
        first.space == Space::kStaging
            ? SendStaged(parcel.receiver, std::move(pieces.sent), pieces.bytes,
                         parcel.stream, send_lane, channel)
            : Send(parcel.receiver, std::move(pieces.sent), pieces.bytes,
                   send_lane, channel, first.space);
    Operation receive =
        first.into == Space::kStaging
            ? ReceiveStaged(parcel.sender, std::move(pieces.received),
                            pieces.bytes, parcel.stream, receive_lane, channel)
            : Receive(parcel.sender, std::move(pieces.received), pieces.bytes,
                      receive_lane, channel);
    Of(parcel.sender).push_back(std::move(send));
    Of(parcel.receiver).push_back(std::move(receive));
  }

  const Moves& moves_;
  std::vector<Program> programs_;
  std::vector<int> next_lane_;                      // by rank
  std::vector<int> lane_;                           // see LaneOf
  std::map<std::pair<int, int>, int64_t> buffers_;  // by rank and stream
};

}  // namespace

ParcelPieces PiecesOf(const Moves& moves, const Parcel& parcel) {
  const absl::Span<const Move> stream =
      moves.Between(parcel.sender, parcel.receiver, parcel.stream);
  const int64_t begin = parcel.offset_bytes;
  const int64_t end = begin + parcel.bytes;
  // The last move that begins at or before `begin`.
  auto it = std::partition_point(
      stream.begin(), stream.end(),
      [&](const Move& move) { return moves.OffsetOf(move) <= begin; });
  if (it != stream.begin()) --it;
  ParcelPieces pieces;
  for (; it != stream.end() && moves.OffsetOf(*it) < end; ++it) {
    const int64_t move_begin = moves.OffsetOf(*it);
    const int64_t move_bytes = moves.BytesOf(it->piece);
    const int64_t item_bytes = moves.item_bytes(it->piece.tensor);
    const vps::Interval positions = {
        std::clamp<int64_t>(begin - move_begin, 0, move_bytes) / item_bytes,
        std::clamp<int64_t>(end - move_begin, 0, move_bytes) / item_bytes};
    if (positions.empty()) continue;
    pieces.bytes += positions.size() * item_bytes;
    const size_t first = pieces.received.size();
    AppendPositions(it->piece, positions, pieces.received);
    for (size_t i = first; i < pieces.received.size(); ++i) {
      pieces.sent.push_back(pieces.received[i]);
      pieces.sent.back().copy = it->source_copy;
    }
  }
  return pieces;
}

std::vector<Program> MakePrograms(const Moves& moves,
                                  absl::Span<const Schedule> schedules,
                                  const Fingerprint& plan_digest) {
  return Emitter(moves, plan_digest).Make(schedules);
}

}  // namespace dynatrain::transition
