#include "transition/plan/regenerate.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "transition/plan/common_parts.h"
#include "vps/geometry/region.h"

namespace dynatrain::transition {
namespace {

using vps::Dtype;

bool IsExact(const vps::TensorSpec& weight, const vps::TensorSpec& master) {
  return (weight.dtype() == Dtype::kBfloat16 ||
          weight.dtype() == Dtype::kFloat16) &&
         master.dtype() == Dtype::kFloat32 && weight.shape() == master.shape();
}

// A set of ranks that is filled and emptied again, part by part.
class Marks {
 public:
  explicit Marks(int size) : marked_(size, 0) {}
  void Set(absl::Span<const int> ranks, bool value) {
    for (int rank : ranks) marked_[rank] = value ? 1 : 0;
  }
  bool Has(int rank) const { return rank >= 0 && marked_[rank] != 0; }

 private:
  std::vector<char> marked_;
};

// Elements that holders of `one`'s copies lack of `other`, where `rank_of` is
// the rank that a holder has in the other layout.
template <typename RankOf>
int64_t LackingElements(const TensorIn& one, const TensorIn& other,
                        const vps::Box& box, RankOf rank_of) {
  int64_t elements = 0;
  Marks marks(other.layout.world_size());
  for (int copy = 0; copy < one.layout.num_copies(one.tensor); ++copy) {
    ForEachCommonPart(one, copy, other, box, [&](const CommonPart& part) {
      marks.Set(part.other_holders, true);
      for (int rank : part.holders) {
        if (!marks.Has(rank_of(rank))) elements += part.elements;
      }
      marks.Set(part.other_holders, false);
    });
  }
  return elements;
}

// Of one weight, on all ranks together.
struct Cost {
  int64_t moved_bytes = 0;
  int64_t gathered_bytes = 0;
};

Cost Weigh(const PlanInput& input, const Regenerated& weight) {
  const vps::Layout& target = input.target().layout();
  const TensorIn wanted = {target, weight.weight};
  const TensorIn before = {input.source().layout(),
                           input.SourceTensor(weight.weight)};
  const TensorIn master = {target, weight.master};
  const int64_t moved =
      LackingElements(wanted, before, input.CommonBox(weight.weight),
                      [&](int rank) { return input.SourceRankOfTarget(rank); });
  const int64_t gathered =
      LackingElements(wanted, master, input.tensor(weight.weight).whole(),
                      [](int rank) { return rank; });
  const int64_t item_bytes = input.item_bytes(weight.weight);
  return {moved * item_bytes, gathered * item_bytes};
}

// The weights whose bits follow from their masters.
std::vector<Regenerated> Candidates(const PlanInput& input,
                                    const RegenerateOptions& options) {
  std::vector<Regenerated> candidates;
  if (options.cast != WeightCast::kNearestEven || input.source().empty()) {
    return candidates;
  }
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    const vps::TensorSpec& spec = input.tensor(tensor);
    if (spec.state() != options.weight_state) continue;
    const std::optional<int> master =
        input.target().layout().Find(spec.name(), options.master_state);
    if (master.has_value() && IsExact(spec, input.tensor(*master))) {
      candidates.push_back({tensor, *master});
    }
  }
  return candidates;
}

}  // namespace

Regeneration ChooseRegenerated(const PlanInput& input,
                               const RegenerateOptions& options) {
  Regeneration result;
  // Weighed once per kind: classes of weight and master. Classes leave open
  // how many bytes an element has; of weights it is two.
  std::map<std::pair<int, int>, Cost> cost_of_kind;
  std::map<std::pair<int, bool>, int> choice_of_class;
  for (const Regenerated& weight : Candidates(input, options)) {
    const int weight_class = input.class_of(weight.weight);
    const auto [cost, is_new] =
        cost_of_kind.try_emplace({weight_class, input.class_of(weight.master)});
    if (is_new) cost->second = Weigh(input, weight);
    const auto [moved_bytes, gathered_bytes] = cost->second;
    const bool regenerate = options.always || gathered_bytes < moved_bytes;
    const auto [index, is_first] = choice_of_class.try_emplace(
        {weight_class, regenerate}, static_cast<int>(result.choices.size()));
    if (is_first) {
      result.choices.push_back(
          {.first_weight = weight.weight, .regenerate = regenerate});
    }
    WeightChoice& choice = result.choices[index->second];
    ++choice.num_weights;
    choice.moved_bytes += moved_bytes;
    choice.gathered_bytes += gathered_bytes;
    if (!regenerate) continue;
    result.weights.push_back(weight);
    result.moved_bytes += moved_bytes;
    result.gathered_bytes += gathered_bytes;
  }
  return result;
}

std::string Regeneration::DebugString(const PlanInput& input) const {
  std::string text;
  for (const WeightChoice& choice : choices) {
    absl::StrAppend(
        &text, input.tensor(choice.first_weight).Id(),
        choice.num_weights == 1
            ? ""
            : absl::StrCat(" and ", choice.num_weights - 1, " more"),
        ": moved ", choice.moved_bytes, " B, gathered ", choice.gathered_bytes,
        " B: ", choice.regenerate ? "gathered\n" : "moved\n");
  }
  return text;
}

int64_t GatheredBytes(const PlanInput& input, int target_rank,
                      const Regenerated& weight) {
  const vps::Layout& target = input.target().layout();
  int64_t elements = 0;
  target.ForEachRegionOf(
      target_rank, weight.weight, [&](const vps::OwnedRegion& wanted) {
        vps::Region rest = {wanted.global};
        target.ForEachRegionOf(
            target_rank, weight.master, [&](const vps::OwnedRegion& own) {
              vps::Region smaller;
              for (const vps::Box& box : rest) {
                for (const vps::Box& part : Subtract(box, own.global)) {
                  smaller.push_back(part);
                }
              }
              rest.swap(smaller);
            });
        elements += vps::NumElements(rest);
      });
  return elements * input.item_bytes(weight.weight);
}

}  // namespace dynatrain::transition
