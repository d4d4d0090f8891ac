#include "transition/schedule/programs.h"

#include <algorithm>
#include <utility>

#include "vps/geometry/box.h"
#include "vps/geometry/flat_interval.h"
#include "vps/geometry/interval.h"

namespace dynatrain::transition {
namespace {

using vps::Box;

// The elements of `region` at the given row-major positions within it.
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
        pieces.push_back({piece.tensor, moved});
      });
}

class Emitter {
 public:
  Emitter(const Moves& moves, const Fingerprint& plan_digest) : moves_(moves) {
    for (int rank = 0; rank < moves.num_ranks(); ++rank) {
      programs_.push_back({.rank = rank, .plan_digest = plan_digest});
    }
  }

  std::vector<Program> Make(absl::Span<const Schedule> schedules) && {
    for (const Move& move : moves_.all()) Prepare(move);
    for (Program& program : programs_) program.operations.push_back(Join());
    for (int i = 0; i < static_cast<int>(schedules.size()); ++i) {
      if (schedules[i].windowed()) {
        AddWindows(schedules[i], i);
      } else {
        for (const Parcel& parcel : schedules[i].parcels) {
          AddMessage(parcel, i, 1 + 2 * i, 2 + 2 * i);
        }
      }
    }
    return std::move(programs_);
  }

 private:
  std::vector<Operation>& Of(int rank) { return programs_[rank].operations; }

  void Prepare(const Move& move) {
    const int64_t bytes = moves_.BytesOf(move.piece);
    if (move.adopted) {
      Of(move.receiver).push_back(Adopt({move.piece}, bytes));
      return;
    }
    Of(move.receiver).push_back(Allocate({move.piece}, bytes));
    if (move.sender == move.receiver) {
      Of(move.receiver).push_back(Copy({move.piece}, bytes));
    }
  }

  void AddMessage(const Parcel& parcel, int channel, int send_lane,
                  int receive_lane) {
    const Pieces pieces =
        PiecesOf(moves_, moves_.Between(parcel.sender, parcel.receiver),
                 parcel.offset_bytes, parcel.offset_bytes + parcel.bytes);
    if (pieces.empty()) return;  // less than an element, at both ends
    int64_t bytes = 0;
    for (const Piece& piece : pieces) bytes += moves_.BytesOf(piece);
    Of(parcel.sender)
        .push_back(Send(parcel.receiver, pieces, bytes, send_lane, channel));
    Of(parcel.receiver)
        .push_back(
            Receive(parcel.sender, pieces, bytes, receive_lane, channel));
  }

  void AddWindows(const Schedule& schedule, int channel) {
    const int lane = 1 + 2 * channel;
    std::vector<int> open_in(moves_.num_ranks(), -1);
    for (int window = 0; window < schedule.num_windows(); ++window) {
      std::vector<int> ranks;
      for (const Parcel& parcel : schedule.window(window)) {
        for (const int rank : {parcel.sender, parcel.receiver}) {
          if (open_in[rank] == window) continue;
          open_in[rank] = window;
          ranks.push_back(rank);
          Of(rank).push_back(GroupBegin(window, lane));
        }
        AddMessage(parcel, channel, lane, lane);
      }
      for (const int rank : ranks) Of(rank).push_back(GroupEnd(lane));
    }
  }

  const Moves& moves_;
  std::vector<Program> programs_;
};

}  // namespace

Pieces PiecesOf(const Moves& moves, absl::Span<const Move> stream,
                int64_t begin, int64_t end) {
  Pieces pieces;
  int64_t piece_begin = 0;
  for (const Move& move : stream) {
    if (piece_begin >= end) break;
    const int64_t bytes = moves.BytesOf(move.piece);
    const int64_t item_bytes = moves.item_bytes(move.piece.tensor);
    const vps::Interval positions = {
        std::clamp<int64_t>(begin - piece_begin, 0, bytes) / item_bytes,
        std::clamp<int64_t>(end - piece_begin, 0, bytes) / item_bytes};
    if (!positions.empty()) AppendPositions(move.piece, positions, pieces);
    piece_begin += bytes;
  }
  return pieces;
}

std::vector<Program> MakePrograms(const Moves& moves,
                                  absl::Span<const Schedule> schedules,
                                  const Fingerprint& plan_digest) {
  return Emitter(moves, plan_digest).Make(schedules);
}

}  // namespace dynatrain::transition
