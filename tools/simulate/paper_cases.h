// PaperCases: the changes of layout that the DynaTrain paper (arXiv 2605.18815)
// gives figures for, with its figures and all that had to be assumed. Of the
// paper only the abstract was read, which does not say which layouts, nor how
// many network cards a node has; so each case names layouts of its kind and
// where they are from, and is worked out for 1, 4 and 8 cards. Nothing is tuned
// to the paper's figures.
#ifndef TOOLS_SIMULATE_PAPER_CASES_H_
#define TOOLS_SIMULATE_PAPER_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tools/simulate/comparison.h"
#include "tools/simulate/shape.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::simulate {

struct PaperCase {
  std::string name;     // "paper-70b"
  std::string title;    // what changes, for people
  std::string assumed;  // where the layouts are from
  std::string model;    // a preset, or "llama-32b" (HotSPa's own)
  Placed from;
  Placed to;
  // What the paper says: seconds of its own, or how many times faster than a
  // baseline; 0: it does not.
  std::string paper;  // "< 2 s"
  double seconds = 0;
  double ratio = 0;
  std::string baseline;  // of the ratio: a strategy's name
  std::string why;       // we may be below the paper's figure
};

// In the order of the paper.
absl::Span<const PaperCase> PaperCases();
// nullptr if there is no such case.
const PaperCase* FindPaperCase(absl::string_view name);

// The model of a case, or any preset, with states "bf16-mixed". Returns
// kInvalidArgument with the names that exist.
absl::StatusOr<JobModel> ModelByName(absl::string_view name);

// NICs per node that cases are worked out for.
inline constexpr int kNicBand[] = {1, 4, 8};

// `cluster` with another number of NICs per node. Returns what
// ClusterModel::Create returns.
absl::StatusOr<transition::ClusterModel> WithNics(
    const transition::ClusterModel& cluster, int nics);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_PAPER_CASES_H_
