#include "operator/reconcile/condition.h"

#include <algorithm>
#include <string>

namespace dynatrain::control {

void SetCondition(Round& round, absl::string_view type, bool status,
                  absl::string_view reason, absl::string_view message) {
  auto& conditions = round.next.conditions;
  auto it =
      std::find_if(conditions.begin(), conditions.end(),
                   [&](const api::Condition& c) { return c.type == type; });
  if (it == conditions.end()) {
    it = conditions.insert(it, api::Condition{});
    it->type = std::string(type);
    it->last_transition =
        absl::FromUnixSeconds(absl::ToUnixSeconds(round.now()));
  } else if (it->status != status) {
    it->last_transition =
        absl::FromUnixSeconds(absl::ToUnixSeconds(round.now()));
  }
  it->status = status;
  it->reason = std::string(reason);
  it->message = std::string(message);
  it->observed_generation = round.job().generation;
}

const api::Condition* FindCondition(const api::JobStatus& status,
                                    absl::string_view type) {
  for (const api::Condition& condition : status.conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool Holds(const api::JobStatus& status, absl::string_view type) {
  const api::Condition* condition = FindCondition(status, type);
  return condition != nullptr && condition->status;
}

}  // namespace dynatrain::control
