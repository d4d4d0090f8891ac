#include "transition/stage/extent_table.h"

#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "transition/stage/extents.h"
#include "transition/stage/rank_totals.h"
#include "transition/stage/stage_contents.h"

namespace dynatrain::transition {
namespace {

// Both worlds of all ranks. What is adopted lies where it was.
class World {
 public:
  World(const Moves& moves, const WorldMemory& memory) {
    std::set<std::tuple<int, int, int>> adopted;  // rank, tensor, copy
    for (const Move& move : moves.all()) {
      if (!move.adopted) continue;
      adopted.insert({move.receiver, move.piece.tensor, move.piece.copy});
    }
    made_.resize(memory.size());
    for (int rank = 0; rank < moves.num_ranks(); ++rank) {
      for (const Piece& it : memory[rank].target) {
        if (adopted.count({rank, it.tensor, it.copy}) > 0) continue;
        made_[rank].push_back(it);
      }
      const int64_t extent_bytes = memory[rank].extent_bytes;
      source_.emplace_back(memory[rank].source, moves.item_bytes(),
                           extent_bytes);
      target_.emplace_back(made_[rank], moves.item_bytes(), extent_bytes);
      for (const Piece& it : memory[rank].source) source_[rank].Use(it);
    }
  }

  Extents& source(int rank) { return source_[rank]; }
  Extents& target(int rank) { return target_[rank]; }
  std::vector<int64_t> SourceBytes() const {
    std::vector<int64_t> bytes;
    for (const Extents& it : source_) bytes.push_back(it.bytes_in_use());
    return bytes;
  }

 private:
  std::vector<std::vector<Piece>> made_;
  std::vector<Extents> source_;
  std::vector<Extents> target_;
};

}  // namespace

ExtentTable ExtentTableOf(const Moves& moves, const Lines& lines,
                          const WorldMemory& memory, const LineCut& cut,
                          bool frees) {
  const int64_t num_parts = cut.num_parts + 1;
  ExtentTable result = {.table = TableOf(lines, cut, moves.item_bytes(),
                                         moves.num_ranks(), num_parts)};
  World world(moves, memory);
  result.source_bytes = world.SourceBytes();
  if (frees) {
    for (const RankPiece& it : UnusedPieces(moves, memory)) {
      world.source(it.rank).GiveBack(it.piece);
    }
  }
  result.resident_bytes = world.SourceBytes();
  std::vector<int64_t> ends(num_parts);
  std::iota(ends.begin(), ends.end(), 1);
  const std::vector<StageContents> contents =
      ContentsOf(moves, lines, cut, ends);
  for (int64_t part = 0; part < num_parts; ++part) {
    for (int rank = 0; rank < moves.num_ranks(); ++rank) {
      result.table.at(part, rank).made = 0;
      result.table.at(part, rank).freed = 0;
    }
    for (const Move& it : contents[part].moves) {
      if (it.adopted || it.into != Space::kTarget) continue;
      result.table.at(part, it.receiver).made +=
          world.target(it.receiver).Use(it.piece);
    }
    for (const RankPiece& it : contents[part].frees) {
      result.table.at(part, it.rank).freed +=
          world.source(it.rank).GiveBack(it.piece);
    }
  }
  return result;
}

}  // namespace dynatrain::transition
