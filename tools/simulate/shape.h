// Shape: how a layout cuts a job, without how many times it stands there: data
// parallelism is what a number of ranks leaves. One shape serves every size
// that it divides.
//
//   ASSIGN_OR_RETURN(Shape shape, Shape::Parse("tp8,pp4"));
//   shape.DataParallel(128) == 4;  shape.ToString(128) == "tp8,pp4,dp4"
#ifndef TOOLS_SIMULATE_SHAPE_H_
#define TOOLS_SIMULATE_SHAPE_H_

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/switch_case.h"
#include "transition/schedule/cluster_model.h"
#include "vps/layout/layout.h"
#include "vps/layout/megatron/ranks.h"
#include "vps/model/model_config.h"
#include "vps/model/state_list.h"

namespace dynatrain::simulate {

struct Shape {
  int tp = 1;
  int pp = 1;
  int cp = 1;
  int ep = 1;
  int etp = 0;  // 0: as tp, as Megatron has it; only of models with experts
  int dp = 0;   // 0: any

  // Reads "tp8,pp4[,cp2][,ep8][,etp1][,dp4]" in any order, what is left out
  // being 1 (dp: any, etp: as tp). Returns what api::LayoutText::Parse returns,
  // and kInvalidArgument naming an entry of a layout that is no axis: "vpp2".
  static absl::StatusOr<Shape> Parse(absl::string_view text);

  // Ranks of one replica.
  int replica() const { return tp * pp * cp; }
  // Ranks that hold all experts once.
  int64_t expert_replica() const { return int64_t{expert_tp()} * ep * pp; }
  int expert_tp() const { return etp == 0 ? tp : etp; }
  // Data parallelism of `ranks`; 0 if the shape has no layout for so many.
  int DataParallel(int ranks) const;
  // "tp8,pp4,dp4", with cp and ep if above 1; without ranks, as Parse reads it.
  std::string ToString(int ranks) const;
  std::string ToString() const;

  friend auto operator<=>(const Shape&, const Shape&) = default;
};

// What a job is, whatever its layout.
struct JobModel {
  std::string name;
  vps::ModelConfig config;
  vps::StateList states;
};

// A job on a number of ranks, wherever they are.
struct LaidOutJob {
  vps::Layout layout;
  vps::megatron::Ranks ranks;
};

// If the stages can't have as many layers each, the first and the last have
// fewer. Returns kInvalidArgument naming what does not fit.
absl::StatusOr<LaidOutJob> LayOut(const JobModel& model, const Shape& shape,
                                  bool distributed_optimizer, int num_ranks);

// The job on those ranks of a cluster, in that order; rank i of the job runs on
// cluster_ranks[i]. Returns what World::Create returns.
absl::StatusOr<RunningJob> RunOn(const LaidOutJob& job,
                                 const std::vector<int>& cluster_ranks,
                                 const transition::ClusterModel& cluster);

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_SHAPE_H_
