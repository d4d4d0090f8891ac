// What `explain` says of random elements of random layouts, and of the same
// layouts as listings, is what the layout does: which coordinates each step
// leads to, which ranks hold the element, and at which byte.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/random_seed.h"
#include "gtest/gtest.h"
#include "tools/cli/explain.h"
#include "tools/cli/holders_text.h"
#include "vps/layout/listing/listed_layout.h"
#include "vps/layout/listing/same_layout_testutil.h"
#include "vps/layout/random_layout.h"

namespace dynatrain::cli {
namespace {

using vps::Layout;
using Index = std::vector<int64_t>;

int NumCases() {
  return std::getenv("DYNATRAIN_LONG") == nullptr ? 600 : 30000;
}

// What one copy's steps end in.
struct Told {
  std::vector<std::pair<std::string, int>> coordinates;  // "-> a0 1, a1 0"
  int64_t byte = -1;
  std::string holders;
};

void AddCoordinates(absl::string_view line, Told& told) {
  for (absl::string_view part : absl::StrSplit(line, ", ")) {
    const std::vector<std::string> words = absl::StrSplit(part, ' ');
    int number = 0;
    if (words.size() == 2 && absl::SimpleAtoi(words[1], &number)) {
      told.coordinates.emplace_back(words[0], number);
    }
  }
}

// Copy by copy.
std::vector<Told> Read(const std::string& text) {
  std::vector<Told> copies(1);
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    Told& told = copies.back();
    if (absl::ConsumePrefix(&line, " = ")) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(line, absl::MaxSplits(", which hold", 1));
      told.holders = parts.first;
      copies.emplace_back();
      continue;
    }
    const size_t arrow = line.find("-> ");
    if (arrow != absl::string_view::npos) {
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(line.substr(arrow + 3), absl::MaxSplits(';', 1));
      AddCoordinates(parts.first, told);
    }
    if (absl::StrContains(line, "byte")) {
      const std::string number(line.substr(line.rfind("= ") + 2));
      if (!absl::SimpleAtoi(absl::StrReplaceAll(number, {{",", ""}}),
                            &told.byte)) {
        told.byte = -2;
      }
    }
  }
  copies.pop_back();
  return copies;
}

// The byte at which a rank has the element, by its regions.
int64_t ByteOf(const Layout& layout, int rank, int tensor, int copy,
               const Index& index) {
  std::optional<int64_t> found;
  layout.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& region) {
    if (region.copy != copy) return;
    int64_t at = region.offset;
    for (size_t dim = 0; dim < index.size(); ++dim) {
      if (!region.global.interval(dim).Contains(index[dim])) return;
      at += (index[dim] - region.global.origin(dim)) * region.strides[dim];
    }
    found = at;
  });
  if (!found.has_value()) return -3;
  const int64_t begin = layout.BufferOf(rank, tensor, copy) < 0
                            ? 0
                            : layout.BufferOffset(rank, tensor, copy);
  return (begin + *found) * layout.tensor(tensor).item_bytes();
}

std::string WrongOfCopy(const Layout& layout, int tensor, int copy,
                        const Index& index, const Told& told) {
  const vps::HolderSet owners = layout.Owners(tensor, copy, index);
  if (told.holders != HoldersText(owners)) {
    return absl::StrCat("holders: ", told.holders, ", not ",
                        HoldersText(owners));
  }
  const vps::Mesh& mesh = layout.meshes()[layout.placement(tensor, copy).mesh];
  for (const int rank : vps::RanksOf(owners)) {
    const int64_t byte = ByteOf(layout, rank, tensor, copy, index);
    if (told.byte != byte) {
      return absl::StrCat("byte: ", told.byte, ", not ", byte, " on rank ",
                          rank);
    }
    for (const auto& [axis, number] : told.coordinates) {
      if (mesh.Coordinate(rank, *mesh.AxisIndex(axis)) != number) {
        return absl::StrCat("rank ", rank, " is not at ", axis, " ", number);
      }
    }
  }
  return "";
}

// Of some elements of each tensor; "" if nothing is.
std::string WhatIsWrong(const Layout& layout) {
  std::mt19937_64 random(1);
  const api::LoadedLayout loaded = {"", "torch", "", layout, {}};
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    if (layout.tensor(tensor).whole().empty()) continue;
    for (int i = 0; i < 3; ++i) {
      Index index;
      for (int64_t extent : layout.tensor(tensor).shape()) {
        index.push_back(
            std::uniform_int_distribution<int64_t>(0, extent - 1)(random));
      }
      const std::string text = *Explain(loaded, tensor, index);
      const std::vector<Told> told = Read(text);
      if (static_cast<int>(told.size()) != layout.num_copies(tensor)) {
        return absl::StrCat(told.size(), " copies\n", text);
      }
      for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
        const std::string wrong =
            WrongOfCopy(layout, tensor, copy, index, told[copy]);
        if (!wrong.empty()) return absl::StrCat(wrong, "\n", text);
      }
    }
  }
  return "";
}

std::string WhatIsWrongWith(const vps::LayoutCase& layout_case) {
  const Layout layout = *MakeLayout(layout_case);
  const std::string wrong = WhatIsWrong(layout);
  if (!wrong.empty()) return wrong;
  const vps::LiveView names = {
      .name = [](int, int, int copy) { return absl::StrCat("copy", copy); }};
  return WhatIsWrong(
      vps::MakeListedLayout(vps::ListAll(layout, names))->layout);
}

TEST(ExplainPropertyTest, SaysWhatTheLayoutDoes) {
  std::mt19937_64 random = TestRandom(1);
  for (int i = 0; i < NumCases(); ++i) {
    const vps::LayoutCase layout_case =
        RandomLayout(vps::RandomTensors(random), 12, random);
    if (WhatIsWrongWith(layout_case).empty()) continue;
    const vps::LayoutCase small =
        Shrink(layout_case, [](const vps::LayoutCase& smaller) {
          return !WhatIsWrongWith(smaller).empty();
        });
    FAIL() << WhatIsWrongWith(small) << "\n" << small << "case " << i;
  }
}

}  // namespace
}  // namespace dynatrain::cli
