#include "transition/plan/balance_senders.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fingerprint.h"
#include "transition/plan/demand.h"
#include "transition/plan/min_max.h"
#include "transition/plan/routing.h"
#include "transition/plan/sender_shares.h"
#include "transition/plan/tensor_classes.h"

namespace dynatrain::transition {
namespace {

int64_t MaxOf(const std::vector<int64_t>& numbers) {
  return numbers.empty() ? 0
                         : *std::max_element(numbers.begin(), numbers.end());
}

// What one target lacks of a group.
struct Part {
  int target_rank;
  int64_t bytes;
};

// All demands of the plan.
class Choices {
 public:
  Choices(const PlanInput& input, const BalanceOptions& options)
      : input_(input),
        options_(options),
        forced_(input.source().size()),
        even_(input.source().size()) {
    const bool few_ranks = input.source().size() <= options.max_ranks &&
                           input.target().size() <= options.max_ranks;
    within_ = few_ranks && !input.source().empty();
    for (int rank = 0; within_ && rank < input.target().size(); ++rank) {
      AddTarget(rank);
    }
  }

  // Whether all were looked at: there are no more than the options allow.
  bool within() const { return within_; }
  // By source rank: what nobody else can send; all that is sent in equal parts.
  const std::vector<int64_t>& forced() const { return forced_; }
  const std::vector<int64_t>& even() const { return even_; }
  // By group.
  const std::vector<SharedDemand>& demands() const { return demands_; }
  const std::vector<CandidatesKey>& keys() const { return keys_; }
  const std::vector<std::vector<Part>>& parts() const { return parts_; }

 private:
  void AddTarget(int rank) {
    TensorClasses classes(input_, /*source_rank=*/-1, rank);
    Router router(input_);
    classes.ForEachTensor([&](int tensor) {
      within_ = within_ && ++num_tensors_ <= options_.max_tensors;
      if (!within_ || input_.MasterOf(tensor) >= 0) return;
      const int64_t item_bytes = input_.item_bytes(tensor);
      for (const Demand& demand : classes.Of(tensor).incoming) {
        const int64_t bytes = demand.region.num_elements() * item_bytes;
        if (demand.senders.num_candidates() == 1) {
          forced_[demand.senders.rank(0)] += bytes;
          even_[demand.senders.rank(0)] += bytes;
          continue;
        }
        AddShared(demand, bytes);
        router.ForEachRouteOf(demand, tensor, [&](const Route& route) {
          even_[route.source_rank] += route.region.num_elements() * item_bytes;
        });
      }
    });
  }

  void AddShared(const Demand& demand, int64_t bytes) {
    const auto [it, is_new] = group_of_key_.try_emplace(
        demand.senders.key(), static_cast<int>(keys_.size()));
    if (is_new) {
      keys_.push_back(it->first);
      parts_.emplace_back();
      SharedDemand& group = demands_.emplace_back();
      for (int i = 0; i < demand.senders.num_candidates(); ++i) {
        group.holders.push_back(demand.senders.candidate(i));
      }
      num_holders_ += demand.senders.num_candidates();
      within_ = within_ && num_holders_ <= options_.max_holders;
    }
    demands_[it->second].bytes += bytes;
    std::vector<Part>& parts = parts_[it->second];
    if (parts.empty() || parts.back().target_rank != demand.target_rank) {
      parts.push_back({demand.target_rank, 0});
    }
    parts.back().bytes += bytes;
  }

  const PlanInput& input_;
  const BalanceOptions& options_;
  bool within_ = false;
  int64_t num_tensors_ = 0;
  int64_t num_holders_ = 0;
  std::vector<int64_t> forced_, even_;
  absl::flat_hash_map<CandidatesKey, int> group_of_key_;
  std::vector<CandidatesKey> keys_;
  std::vector<SharedDemand> demands_;
  std::vector<std::vector<Part>> parts_;
};

// Where the shares meet, laid end to end, so that no piece but the
// last is below `least`.
std::vector<int64_t> CutsOf(const std::vector<int64_t>& shares, int64_t bytes,
                            int64_t least) {
  std::vector<int64_t> cuts = {0};
  int64_t sum = 0;
  for (const int64_t share : shares) {
    sum += share;
    const int64_t rounded = (sum + least / 2) / least * least;
    cuts.push_back(sum == bytes ? bytes : std::min(rounded, bytes));
  }
  return cuts;
}

// All to one of those that have a share: the one with the least load.
std::vector<int64_t> CutsToOne(const SharedDemand& group,
                               const std::vector<int64_t>& shares,
                               const std::vector<int64_t>& loads) {
  size_t best = shares.size();
  for (size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    if (best == shares.size() ||
        loads[group.holders[i]] < loads[group.holders[best]]) {
      best = i;
    }
  }
  std::vector<int64_t> cuts(shares.size() + 1, group.bytes);
  std::fill(cuts.begin(), cuts.begin() + best + 1, 0);
  return cuts;
}

void AppendTo(Fingerprinter& digest, const CandidatesKey& key,
              const SharedGroup& group, const std::vector<Part>& parts) {
  digest.Append(key.placement).Append(key.first_holder);
  digest.Append(static_cast<int>(key.tier)).Append(key.group);
  digest.Append(group.cuts.size());
  for (const int64_t cut : group.cuts) digest.Append(cut);
  digest.Append(parts.size());
  for (const Part& part : parts) {
    digest.Append(part.target_rank).Append(part.bytes);
  }
}

// Adds to `loads` what its shares make each holder send.
SharedGroup GroupOf(const PlanOptions& options, const SharedDemand& group,
                    const std::vector<int64_t>& shares,
                    const std::vector<Part>& parts,
                    std::vector<int64_t>& loads) {
  SharedGroup result;
  int64_t begin = 0, most = 0;
  for (const Part& part : parts) {
    result.begin_of_target[part.target_rank] = begin;
    begin += part.bytes;
    most = std::max(most, part.bytes);
  }
  const int64_t least =
      std::max(options.min_sender_bytes,
               (most + options.max_senders - 1) / options.max_senders);
  result.cuts = group.bytes <= least ? CutsToOne(group, shares, loads)
                                     : CutsOf(shares, group.bytes, least);
  for (size_t i = 0; i < group.holders.size(); ++i) {
    loads[group.holders[i]] += result.cuts[i + 1] - result.cuts[i];
  }
  return result;
}

bool IsEvenEnough(const SenderBalance& balance) {
  return balance.even_bytes - balance.bound_bytes <= balance.bound_bytes / 20;
}

}  // namespace

PlanInput BalanceSenders(const PlanInput& given, const BalanceOptions& options,
                         SenderBalance* balance) {
  const PlanInput input = given.WithShares(nullptr);
  const Choices choices(input, options);
  if (!choices.within()) {
    if (balance != nullptr) *balance = {};
    return input;
  }
  const MinMax best = SolveMinMax(choices.demands(), choices.forced());
  SenderBalance result = {.known = true};
  result.even_bytes = result.chosen_bytes = MaxOf(choices.even());
  result.bound_bytes = std::max(best.busiest_bytes, MaxOf(choices.forced()));
  auto shares = std::make_shared<SenderShares>();
  if (!IsEvenEnough(result)) {
    std::vector<int64_t> loads = choices.forced();
    Fingerprinter digest;
    for (size_t i = 0; i < choices.keys().size(); ++i) {
      SharedGroup group = GroupOf(input.options(), choices.demands()[i],
                                  best.shares[i], choices.parts()[i], loads);
      group.id = static_cast<int>(i);
      AppendTo(digest, choices.keys()[i], group, choices.parts()[i]);
      shares->groups.emplace(choices.keys()[i], std::move(group));
    }
    shares->digest = digest.Finish();
    result.chosen_bytes = std::min(result.even_bytes, MaxOf(loads));
  }
  if (balance != nullptr) *balance = result;
  if (result.chosen_bytes == result.even_bytes) return input;
  return input.WithShares(std::move(shares));
}

}  // namespace dynatrain::transition
