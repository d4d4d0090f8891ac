// PlanInput: all that a plan depends on. Equal inputs give equal plans, on
// every process and in the operator, so plans are never shipped: processes
// compare agreement() and compute their own part.
#ifndef TRANSITION_PLAN_PLAN_INPUT_H_
#define TRANSITION_PLAN_PLAN_INPUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "transition/plan/agreement.h"
#include "transition/plan/sender_shares.h"
#include "transition/plan/world.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::transition {

// Raise it with any change that makes another plan of the same input.
inline constexpr int kPlannerVersion = 4;

struct PlanOptions {
  // Where several ranks hold what a target lacks, so many of them send it that
  // each sends at least this much. At 10 GB/s 256 KiB take 26 us, well
  // above what one more route costs (a few us).
  int64_t min_sender_bytes = 256 << 10;
  // And never more than this many, so that one rank that joins a thousand
  // replicas opens tens of connections; others that join use other ones.
  int max_senders = 32;

  friend bool operator==(const PlanOptions&, const PlanOptions&) = default;
};

// Tensors that are placed alike in both worlds, laid end to end in their order,
// are a line. The ranks that can send a line to a target share it by position
// (Stripe). Lengths are the bytes of the part of the first rank that has the
// tensor in the target; the parts of others are in proportion, up to rounding.
struct LineSpan {
  int64_t begin_bytes = 0;  // of the tensor on its line
  int64_t end_bytes = 0;
  int64_t line_bytes = 0;  // of the whole line
};

// A weight that isn't moved but made anew from its master (regenerate.h).
struct Regenerated {
  int weight = 0;  // tensors
  int master = 0;
  friend bool operator==(const Regenerated&, const Regenerated&) = default;
};

class PlanInput {
 public:
  // `source` may be the empty world: then nothing moves. Worlds may share all
  // processes, some, or none. Returns kInvalidArgument if `target` is empty or
  // an option is out of range, kFailedPrecondition with the difference by
  // tensor name if the worlds have different tensors. Tensors are the same if
  // name, state, dtype and shape are; of a tensor that is padded from the same
  // row in both worlds, the number of rows may differ.
  static absl::StatusOr<PlanInput> Create(World source, World target,
                                          PlanOptions options = {});

  // The same, but that these weights are left out of the plan, too: each is the
  // cast of its master once that has moved. Returns kInvalidArgument naming the
  // tensor if it isn't there, a weight is there twice, or is a master itself.
  absl::StatusOr<PlanInput> WithRegenerated(
      absl::Span<const Regenerated> weights) const;

  // The same, but that who sends what there is a choice of follows from
  // `shares`; null: equal parts. Dropped by WithRegenerated.
  PlanInput WithShares(std::shared_ptr<const SenderShares> shares) const;
  const SenderShares* shares() const { return body_->shares.get(); }

  const World& source() const { return body_->source; }
  const World& target() const { return body_->target; }
  const PlanOptions& options() const { return body_->options; }
  // The tensors, in the order of the target's layout.
  int num_tensors() const { return target().layout().num_tensors(); }
  const vps::TensorSpec& tensor(int tensor) const {
    return target().layout().tensor(tensor);
  }
  // The index of a tensor in the source's layout.
  // REQUIRES, here and below: the source world is not empty.
  int SourceTensor(int tensor) const {
    if (body_->source_tensors.empty()) return tensor;
    return body_->source_tensors[tensor];
  }
  // And back.
  int TargetTensor(int source_tensor) const {
    if (body_->target_tensors.empty()) return source_tensor;
    return body_->target_tensors[source_tensor];
  }
  // Whether the worlds pad the tensor to different lengths.
  bool PaddingDiffers(int tensor) const {
    return body_->kinds[tensor].padding_differs;
  }
  // The elements that the tensor has in both worlds.
  vps::Box CommonBox(int tensor) const;

  // The processes of both worlds, each once: those of the source by rank, then
  // those that join by target rank.
  int num_processes() const {
    return source().size() + body_->num_joining_processes;
  }
  // The place of a rank's process in that list.
  int UnionIndexOfSource(int source_rank) const { return source_rank; }
  int UnionIndexOfTarget(int target_rank) const {
    return body_->union_index_of_target[target_rank];
  }
  // The rank that a target rank's process has in the source world; -1 if it
  // joins. And the other way round; -1 if it leaves.
  int SourceRankOfTarget(int target_rank) const {
    const int index = UnionIndexOfTarget(target_rank);
    return index < source().size() ? index : -1;
  }
  int TargetRankOfSource(int source_rank) const {
    return body_->target_rank_of_source[source_rank];
  }

  // Tensors of one class have the same shapes and are placed alike in both
  // worlds, flat positions included: a plan treats them alike up to their
  // bytes. Classes are numbered from 0 in the order of their first tensors.
  int class_of(int tensor) const { return body_->kinds[tensor].class_index; }
  int num_classes() const { return body_->num_classes; }
  // The classes of more tensors than a parameter has states have numbers of
  // their own, in the same order: what is worked out once for all tensors of a
  // class is remembered by them. Shards of a flat buffer are all different, but
  // for the states of one parameter, which follow each other, and a job has a
  // hundred thousand. -1 for a tensor of a small class.
  int shared_class_of(int tensor) const {
    return body_->kinds[tensor].shared_class;
  }
  int num_shared_classes() const { return body_->num_shared_classes; }
  int64_t item_bytes(int tensor) const {
    return body_->kinds[tensor].item_bytes;
  }

  // The master that a regenerated weight is made from; -1 if it is moved.
  int MasterOf(int tensor) const {
    return body_->masters.empty() ? -1 : body_->masters[tensor];
  }

  const LineSpan& line_span(int tensor) const {
    return body_->line_spans[tensor];
  }

  // Planner version, tensors, both layouts, both process lists with where
  // they run, options, regenerated weights and shares.
  const Agreement& agreement() const { return body_->agreement; }
  // Of all that.
  const Fingerprint& AgreementDigest() const { return body_->digest; }

 private:
  struct Body {
    World source;
    World target;
    PlanOptions options;
    int num_joining_processes = 0;
    std::vector<int> union_index_of_target;
    std::vector<int> target_rank_of_source;
    std::vector<int> source_tensors;  // empty: the order is the same
    std::vector<int> target_tensors;  // its inverse
    // What a walk over tensors asks of each, close together in memory.
    struct Kind {
      int class_index;
      int shared_class;
      int item_bytes;
      bool padding_differs;
    };
    std::vector<Kind> kinds;  // by tensor
    int num_classes = 0;
    int num_shared_classes = 0;
    std::vector<LineSpan> line_spans;
    std::vector<int> masters;  // empty: all tensors are moved
    std::shared_ptr<const SenderShares> shares;
    Agreement agreement;
    Fingerprint digest;  // of the agreement
  };

  explicit PlanInput(std::shared_ptr<const Body> body);

  std::shared_ptr<const Body> body_;  // never null; shared by copies
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_PLAN_INPUT_H_
