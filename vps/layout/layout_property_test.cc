// The laws of layout.h on random layouts, against an oracle that enumerates
// elements. Each law is one function that returns what is wrong, or "".
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "vps/geometry/random_box.h"
#include "vps/geometry/region.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/brute_force.h"
#include "vps/layout/layout.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::vps {
namespace {

constexpr int kMaxRanks = 16;

int NumCases() {
  return std::getenv("DYNATRAIN_LONG") == nullptr ? 4000 : 200000;
}

template <typename T>
std::string Text(const T& value) {
  return (std::ostringstream() << value).str();
}

// One case, and what the oracle says of it.
struct Subject {
  LayoutCase layout_case;
  Layout layout;
  // [tensor][copy][rank]
  std::vector<std::vector<std::vector<std::optional<OwnMemory>>>> memory;

  // Calls visit(tensor, copy) until one is wrong.
  template <typename Visit>
  std::string ForEachCopy(Visit visit) const {
    for (int t = 0; t < layout.num_tensors(); ++t) {
      for (int c = 0; c < layout.num_copies(t); ++c) {
        const std::string wrong = visit(t, c);
        if (!wrong.empty()) {
          return absl::StrCat(wrong, " (t", t, " copy ", c, ")");
        }
      }
    }
    return "";
  }
  int64_t FlatIndexIn(int tensor, const Index& index) const {
    return FlatIndex(index, layout_case.tensors[tensor].shape);
  }
  bool Holds(int rank, int tensor, int copy, int64_t element) const {
    const std::optional<OwnMemory>& own = memory[tensor][copy][rank];
    return own.has_value() &&
           std::find(own->elements.begin(), own->elements.end(), element) !=
               own->elements.end();
  }
};

Subject MakeSubject(const LayoutCase& layout_case) {
  Subject s = {layout_case, *MakeLayout(layout_case), {}};
  for (int t = 0; t < s.layout.num_tensors(); ++t) {
    s.memory.emplace_back();
    for (int c = 0; c < s.layout.num_copies(t); ++c) {
      s.memory[t].emplace_back();
      for (int rank = 0; rank < s.layout.world_size(); ++rank) {
        s.memory[t][c].push_back(BruteForceMemory(layout_case, rank, t, c));
      }
    }
  }
  return s;
}

std::vector<OwnedRegion> RegionsOf(const Subject& s, int rank) {
  std::vector<OwnedRegion> regions;
  s.layout.ForEachRegion(
      rank, [&](const OwnedRegion& region) { regions.push_back(region); });
  return regions;
}

// Each element of a rank's memory is in one region, which says where it lies.
std::string AddressesAreRight(const Subject& s) {
  for (int rank = 0; rank < s.layout.world_size(); ++rank) {
    auto left = s.memory;  // elements become -1 where a region says them
    for (const OwnedRegion& region : RegionsOf(s, rank)) {
      auto& own = left[region.tensor][region.copy][rank];
      if (!own.has_value()) return absl::StrCat("not there: ", Text(region));
      for (const Index& g : ElementsOf(region.global)) {
        int64_t at = region.offset;
        for (size_t d = 0; d < g.size(); ++d) {
          at += (g[d] - region.global.origin(d)) * region.strides[d];
        }
        if (at < 0 || at >= own->elements.size() ||
            own->elements[at] != s.FlatIndexIn(region.tensor, g)) {
          return absl::StrCat("rank ", rank, ", element ", at, ": ",
                              Text(region));
        }
        own->elements[at] = -1;
      }
    }
    const std::string wrong = s.ForEachCopy([&](int t, int c) -> std::string {
      if (!left[t][c][rank].has_value()) return "";
      for (int64_t element : left[t][c][rank]->elements) {
        if (element >= 0) {
          return absl::StrCat("rank ", rank, ": no region has ", element);
        }
      }
      return "";
    });
    if (!wrong.empty()) return wrong;
  }
  return "";
}

std::string RegionsAreInOrder(const Subject& s) {
  for (int rank = 0; rank < s.layout.world_size(); ++rank) {
    const std::vector<OwnedRegion> regions = RegionsOf(s, rank);
    std::vector<OwnedRegion> by_tensor;
    for (int t = 0; t < s.layout.num_tensors(); ++t) {
      s.layout.ForEachRegionOf(rank, t, [&](const OwnedRegion& region) {
        by_tensor.push_back(region);
      });
    }
    if (regions != by_tensor) return absl::StrCat("tensors of rank ", rank);
    std::vector<int> tensors;
    s.layout.ForEachTensorOf(rank, [&](int t) { tensors.push_back(t); });
    if (!std::is_sorted(tensors.begin(), tensors.end(), std::less_equal<>())) {
      return absl::StrCat("ForEachTensorOf is not ascending, rank ", rank);
    }
    for (const OwnedRegion& region : regions) {
      if (!std::binary_search(tensors.begin(), tensors.end(), region.tensor)) {
        return absl::StrCat("ForEachTensorOf misses ", Text(region));
      }
    }
    const auto key = [](const OwnedRegion& r) {
      return std::tuple(r.tensor, r.copy, r.offset);
    };
    for (size_t i = 1; i < regions.size(); ++i) {
      if (key(regions[i - 1]) >= key(regions[i])) {
        return absl::StrCat("order of rank ", rank, ": ", Text(regions[i]));
      }
    }
  }
  return "";
}

std::string PlacesAndShapesAreRight(const Subject& s) {
  return s.ForEachCopy([&](int t, int c) -> std::string {
    for (int rank = 0; rank < s.layout.world_size(); ++rank) {
      const auto shape = s.layout.LocalShapeOf(rank, t, c);
      const auto& own = s.memory[t][c][rank];
      if (shape.has_value() != own.has_value() ||
          s.layout.IsAt(rank, t, c) != own.has_value()) {
        return absl::StrCat("whether rank ", rank, " has it");
      }
      if (own.has_value() &&
          !std::equal(shape->begin(), shape->end(), own->local_shape.begin(),
                      own->local_shape.end())) {
        return absl::StrCat("local shape of rank ", rank);
      }
    }
    return "";
  });
}

// The regions of all ranks hold each element as often as it has owners.
std::string EachCopyIsWhole(const Subject& s) {
  return s.ForEachCopy([&](int t, int c) -> std::string {
    std::map<int64_t, int> times;
    for (int rank = 0; rank < s.layout.world_size(); ++rank) {
      for (const OwnedRegion& region : RegionsOf(s, rank)) {
        if (region.tensor != t || region.copy != c) continue;
        for (const Index& g : ElementsOf(region.global)) {
          ++times[s.FlatIndexIn(t, g)];
        }
      }
    }
    for (const Index& g : ElementsOf(s.layout.tensor(t).whole())) {
      const HolderSet owners = s.layout.Owners(t, c, g);
      const int64_t element = s.FlatIndexIn(t, g);
      if (owners.size() < 1 || times[element] != owners.size()) {
        return absl::StrCat("element ", element, " is held ", times[element],
                            " times by ", owners.size(), " owners");
      }
    }
    return "";
  });
}

std::string WrongHolders(const Subject& s, int t, int c, const Piece& piece) {
  std::set<int> listed;
  for (int i = 0; i < piece.holders.size(); ++i) {
    const int rank = piece.holders.rank(i);
    listed.insert(rank);
    if (piece.holders.IndexOf(rank) != i) return "IndexOf";
  }
  if (listed.size() != piece.holders.size()) return "a holder is listed twice";
  for (int rank = 0; rank < s.layout.world_size(); ++rank) {
    const bool is_listed = listed.contains(rank);
    if (piece.holders.Contains(rank) != is_listed) return "Contains";
    for (const Index& g : ElementsOf(piece.box)) {
      if (s.Holds(rank, t, c, s.FlatIndexIn(t, g)) != is_listed) {
        return absl::StrCat("whether rank ", rank, " holds ",
                            s.FlatIndexIn(t, g));
      }
    }
    if (!is_listed) continue;
    bool found = false;
    s.layout.ForEachRegionOf(rank, t, [&](const OwnedRegion& region) {
      found = found || (region.copy == c && region.global == piece.region);
    });
    if (!found || !piece.region.Contains(piece.box)) {
      return absl::StrCat("region ", Text(piece.region), " of rank ", rank);
    }
  }
  return "";
}

// For some boxes: the pieces tile them, and their holders are those that hold.
std::string PiecesAreTheInverse(const Subject& s) {
  std::mt19937_64 random(1);
  return s.ForEachCopy([&](int t, int c) -> std::string {
    const Box whole = s.layout.tensor(t).whole();
    for (const Box& box : {whole, RandomBoxIn(whole, random)}) {
      std::vector<Box> pieces;
      std::string wrong;
      s.layout.ForEachPiece(t, c, box, [&](const Piece& piece) {
        pieces.push_back(piece.box);
        if (wrong.empty()) wrong = WrongHolders(s, t, c, piece);
      });
      if (!wrong.empty()) return wrong;
      const absl::Status cover = CheckExactCover(box, pieces);
      if (!cover.ok()) return std::string(cover.message());
    }
    return "";
  });
}

// Ranks that hold alike have the same memory; others another piece.
std::string HoldersHoldAlike(const Subject& s) {
  return s.ForEachCopy([&](int t, int c) -> std::string {
    for (int rank = 0; rank < s.layout.world_size(); ++rank) {
      if (!s.layout.IsAt(rank, t, c)) continue;
      const HolderSet like = s.layout.HoldersLike(rank, t, c);
      if (!like.Contains(rank)) return "a rank doesn't hold like itself";
      for (int other = 0; other < s.layout.world_size(); ++other) {
        if (!s.layout.IsAt(other, t, c)) {
          if (like.Contains(other)) return "a holder is elsewhere";
          continue;
        }
        const bool same =
            s.layout.PieceIndex(rank, t, c) == s.layout.PieceIndex(other, t, c);
        if (same != like.Contains(other)) return "PieceIndex";
        if (same &&
            s.memory[t][c][rank]->elements != s.memory[t][c][other]->elements) {
          return absl::StrCat("ranks ", rank, " and ", other);
        }
      }
    }
    return "";
  });
}

std::string FirstBrokenLaw(const LayoutCase& layout_case) {
  const Subject subject = MakeSubject(layout_case);
  for (const auto law :
       {AddressesAreRight, RegionsAreInOrder, PlacesAndShapesAreRight,
        EachCopyIsWhole, PiecesAreTheInverse, HoldersHoldAlike}) {
    if (std::string wrong = law(subject); !wrong.empty()) return wrong;
  }
  return "";
}

TEST(LayoutProperty, KeepsEveryLawOnRandomLayouts) {
  std::mt19937_64 random = TestRandom(71);
  for (int i = 0; i < NumCases(); ++i) {
    const LayoutCase layout_case =
        RandomLayout(RandomTensors(random), kMaxRanks, random);
    if (FirstBrokenLaw(layout_case).empty()) continue;
    const LayoutCase small = Shrink(layout_case, [](const LayoutCase& smaller) {
      return !FirstBrokenLaw(smaller).empty();
    });
    FAIL() << FirstBrokenLaw(small) << "\n" << small << "case " << i;
  }
}

// 7 indices in two are 4 and 3; in three blocks of two pieces each, 4 leave 2
// to the first piece, 3 leave 3: more, of less.
TEST(LayoutProperty, TheLargestLocalTensorIsNotAlwaysOfFirstPieces) {
  const LayoutCase::Copy copy = {
      .cuts = {{.group = {{0}}}, {.group = {{1}}, .num_blocks = 3}},
      .flat = LayoutCase::Group{{2}},
      .in_run = {.shard = 2}};
  const LayoutCase layout_case = {
      .meshes = {{2, 2, 2}}, .tensors = {{.shape = {7}, .copies = {copy}}}};
  EXPECT_EQ(FirstBrokenLaw(layout_case), "");
  LayoutCase too_short = layout_case;
  too_short.tensors[0].copies[0].in_run.shard = 1;
  EXPECT_FALSE(MakeLayout(too_short).ok());
}

// What the random layouts are made of: each kind often enough to count.
TEST(LayoutProperty, RandomLayoutsAreOfEveryKind) {
  std::mt19937_64 random = TestRandom(72);
  std::map<std::string, int> seen;
  for (int i = 0; i < 3000; ++i) {
    const LayoutCase it =
        RandomLayout(RandomTensors(random), kMaxRanks, random);
    if (it.meshes.size() > 1) ++seen["two meshes"];
    for (const LayoutCase::Tensor& tensor : it.tensors) {
      if (tensor.copies.size() > 1) ++seen["two copies"];
      if (tensor.pad_from >= 0) ++seen["padded"];
      for (const LayoutCase::Copy& copy : tensor.copies) {
        if (!copy.at.empty()) ++seen["located"];
        std::set<int> dims;
        for (const LayoutCase::Cut& cut : copy.cuts) {
          if (cut.num_blocks > 1) ++seen["blocks"];
          if (cut.block_extents.size() > 1) ++seen["block extents"];
          if (cut.group.axes.size() > 1) ++seen["group of axes"];
          if (cut.group.pieces > 0) ++seen["cut modulo pieces"];
          if (!dims.insert(cut.dim).second) ++seen["dim cut twice"];
        }
        if (!copy.flat.has_value()) continue;
        ++seen["flat"];
        if (copy.flat->pieces > 1) ++seen["flat modulo pieces"];
        if (copy.by_lane.size() > 1) ++seen["lanes"];
        for (const auto& [position, shard] :
             copy.lanes.empty() ? std::vector{copy.in_run} : copy.by_lane) {
          if (tensor.shape.size() > 1 && shard < tensor.shape.back()) {
            ++seen["shard shorter than a row"];
          }
          if (position >= shard) ++seen["empty first shard"];
        }
        if (!copy.cuts.empty()) ++seen["cut, then flat"];
      }
    }
  }
  for (const char* kind :
       {"two meshes", "two copies", "padded", "located", "blocks",
        "block extents", "group of axes", "cut modulo pieces", "dim cut twice",
        "flat", "flat modulo pieces", "shard shorter than a row",
        "empty first shard", "cut, then flat", "lanes"}) {
    EXPECT_GE(seen[kind], 20) << kind;
  }
}

}  // namespace
}  // namespace dynatrain::vps
