// Selection: which ranks and tensors of a layout the options choose.
#ifndef TOOLS_CLI_SELECTION_H_
#define TOOLS_CLI_SELECTION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/command_line.h"
#include "vps/layout/layout.h"

namespace dynatrain::cli {

struct Selection {
  // Those of --rank, ascending; nullopt if it isn't given.
  std::optional<std::vector<int>> ranks;
  // Those of --tensor and --state, ascending; all if neither is given.
  std::vector<int> tensors;
  bool all_tensors = true;

  // The ranks to go through: those asked for, else all.
  std::vector<int> RanksOf(const vps::Layout& layout) const;
};

// Returns kInvalidArgument naming the option, with what is near, if a rank is
// outside of the world, or no tensor has the state or matches the glob.
absl::StatusOr<Selection> Select(const vps::Layout& layout,
                                 const CommandLine& line);

// The states of the layout's tensors, in the order in which they come first.
std::vector<std::string> StatesOf(const vps::Layout& layout);

// The tensor's index. Returns kInvalidArgument with the nearest name or state
// if there is none.
absl::StatusOr<int> FindTensor(const vps::Layout& layout,
                               const std::string& name,
                               const std::string& state);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SELECTION_H_
