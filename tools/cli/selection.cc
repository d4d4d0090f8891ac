#include "tools/cli/selection.h"

#include <algorithm>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest.h"
#include "base/ranges_text.h"
#include "base/status_macros.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

using vps::Layout;

absl::Status Wrong(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

absl::Status CheckState(const Layout& layout, const std::string& state) {
  const std::vector<std::string> states = StatesOf(layout);
  if (std::find(states.begin(), states.end(), state) != states.end()) {
    return absl::OkStatus();
  }
  return Wrong(absl::StrCat("--state: no tensor has \"", state,
                            "\"; there are ", absl::StrJoin(states, ", "),
                            DidYouMean(state, states)));
}

std::vector<std::string> Names(const Layout& layout) {
  std::vector<std::string> names;
  absl::flat_hash_set<absl::string_view> seen;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    const std::string& name = layout.tensor(i).name();
    if (seen.insert(name).second) names.push_back(name);
  }
  return names;
}

absl::Status NoName(absl::string_view option, const Layout& layout,
                    const std::string& name) {
  const std::vector<std::string> names = Names(layout);
  const std::string near = DidYouMean(name, names);
  return Wrong(absl::StrCat(option, ": no tensor ", name,
                            near.empty() && !names.empty()
                                ? absl::StrCat("; there are ", names.size(),
                                               ", the first is ", names.front())
                                : near));
}

}  // namespace

std::vector<std::string> StatesOf(const Layout& layout) {
  std::vector<std::string> states;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    const std::string& state = layout.tensor(i).state();
    if (std::find(states.begin(), states.end(), state) == states.end()) {
      states.push_back(state);
    }
  }
  return states;
}

std::vector<int> Selection::RanksOf(const Layout& layout) const {
  if (ranks.has_value()) return *ranks;
  std::vector<int> all(layout.world_size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

absl::StatusOr<Selection> Select(const Layout& layout,
                                 const CommandLine& line) {
  Selection selection;
  const std::string ranks = line.Get("rank");
  if (ranks == "all") {
    selection.ranks = selection.RanksOf(layout);
  } else if (line.Has("rank")) {
    ASSIGN_OR_RETURN(selection.ranks, ParseRanges(ranks, layout.world_size()),
                     "--rank");
  }
  const std::string glob = line.Get("tensor", "*"), state = line.Get("state");
  if (line.Has("state")) RETURN_IF_ERROR(CheckState(layout, state));
  selection.all_tensors = !line.Has("tensor") && !line.Has("state");
  for (int i = 0; i < layout.num_tensors(); ++i) {
    const vps::TensorSpec& spec = layout.tensor(i);
    if (line.Has("state") && spec.state() != state) continue;
    if (MatchesGlob(glob, spec.name())) selection.tensors.push_back(i);
  }
  if (selection.tensors.empty() && line.Has("tensor")) {
    return NoName("--tensor", layout, glob);
  }
  return selection;
}

absl::StatusOr<int> FindTensor(const Layout& layout, const std::string& name,
                               const std::string& state) {
  const std::optional<int> found = layout.Find(name, state);
  if (found.has_value()) return *found;
  std::vector<std::string> states;
  for (const std::string& other : StatesOf(layout)) {
    if (layout.Find(name, other).has_value()) states.push_back(other);
  }
  if (states.empty()) return NoName("--element", layout, name);
  return Wrong(absl::StrCat("--state: ", name, " has no \"", state,
                            "\"; it has ", absl::StrJoin(states, ", "),
                            DidYouMean(state, states)));
}

}  // namespace dynatrain::cli
