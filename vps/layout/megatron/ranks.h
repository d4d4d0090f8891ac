// Ranks: how Megatron arranges the ranks of a world. Attention and all that is
// dense lives on one mesh (tp, cp, dp, pp), experts on another one over the
// same ranks (etp, ep, edp, pp), and one order string arranges both.
//
//   ASSIGN_OR_RETURN(Ranks ranks,
//                    Ranks::Create({.world = 16, .tp = 2, .cp = 2, .pp = 2,
//                                   .ep = 2, .etp = 1}));
//   ranks.dense().DebugString() == "pp2,dp2,cp2,tp2"
//   ranks.expert().DebugString() == "pp2,edp4,ep2,etp1"
//
// The coordinates of one rank on the two meshes are independent of each other,
// but for pp, which both must cut in the same way.
// Source: core/parallel_state.py, RankGenerator, initialize_model_parallel
// (Megatron-Core 0.16.1).
#ifndef VPS_LAYOUT_MEGATRON_RANKS_H_
#define VPS_LAYOUT_MEGATRON_RANKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "vps/layout/mesh.h"

namespace dynatrain::vps::megatron {

// Megatron's default; --use-tp-pp-dp-mapping is kTpPpDpOrder.
inline constexpr absl::string_view kDefaultOrder = "tp-cp-ep-dp-pp";
inline constexpr absl::string_view kTpPpDpOrder = "tp-cp-ep-pp-dp";

class Ranks {
 public:
  struct Sizes {
    int64_t world = 1;
    int64_t tp = 1;   // tensor
    int64_t cp = 1;   // context
    int64_t pp = 1;   // pipeline
    int64_t ep = 1;   // expert
    int64_t etp = 0;  // expert tensor; 0 is as tp
    // num_distributed_optimizer_instances: the dp-cp list is cut in as many
    // contiguous parts, and each holds a whole optimizer state.
    int64_t optimizer_instances = 1;
    // Left-most varies fastest. Axes of size 1 may be left out.
    std::string order = std::string(kDefaultOrder);
  };

  // Returns kInvalidArgument, naming the field and values that would do, for
  // what Megatron refuses: a world that tp*cp*pp or etp*ep*pp doesn't divide;
  // an order that leaves out an axis above 1 or, with pp not last, gives the
  // two meshes different pipelines (edp != dp); optimizer instances that do
  // not divide dp*cp and edp.
  // Also for a size below 1, an unknown or repeated axis of `order`, or a world
  // above kMaxWorldSize.
  static absl::StatusOr<Ranks> Create(const Sizes& sizes);

  // Slowest axis first, which is the order string backwards.
  const Mesh& dense() const { return dense_; }    // tp, cp, dp, pp
  const Mesh& expert() const { return expert_; }  // etp, ep, edp, pp

  int world_size() const { return dense_.world_size(); }
  int tp() const { return tp_; }
  int cp() const { return cp_; }
  int pp() const { return pp_; }
  int dp() const { return dp_; }
  int ep() const { return ep_; }
  int etp() const { return etp_; }
  int edp() const { return edp_; }
  int optimizer_instances() const { return instances_; }

  // The axes over which ZeRO-1 shards, slowest first, and how many shards: a
  // rank owns the shard whose number is its coordinates on them read as one
  // mixed-radix number, modulo the shards.
  absl::Span<const std::string> dense_shard_axes() const {
    return dense_shard_axes_;  // dp and cp in the order of the mesh
  }
  absl::Span<const std::string> expert_shard_axes() const {
    return expert_shard_axes_;  // edp
  }
  int dense_shards() const { return dp_ * cp_ / instances_; }
  int expert_shards() const { return edp_ / instances_; }

  friend bool operator==(const Ranks&, const Ranks&) = default;

 private:
  Ranks(Mesh dense, Mesh expert);

  Mesh dense_;
  Mesh expert_;
  int tp_ = 1, cp_ = 1, pp_ = 1, dp_ = 1, ep_ = 1, etp_ = 1, edp_ = 1;
  int instances_ = 1;
  std::vector<std::string> dense_shard_axes_;
  std::vector<std::string> expert_shard_axes_;
};

// All groups of ranks of `mesh` that differ only on `axes`, in the order in
// which Megatron makes them (generate_masked_orthogonal_rank_groups): ascending
// by first rank, the faster axis varying first within a group. O(world); for
// people and tests. REQUIRES: the mesh has these axes.
std::vector<std::vector<int>> RankGroups(const Mesh& mesh,
                                         absl::Span<const std::string> axes);

}  // namespace dynatrain::vps::megatron

#endif  // VPS_LAYOUT_MEGATRON_RANKS_H_
