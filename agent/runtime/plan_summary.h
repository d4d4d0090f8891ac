// What dt_plan tells Python, as JSON.
#ifndef AGENT_RUNTIME_PLAN_SUMMARY_H_
#define AGENT_RUNTIME_PLAN_SUMMARY_H_

#include <map>
#include <string>

#include "agent/runtime/process_transition.h"
#include "nlohmann/json.hpp"

namespace dynatrain::runtime {

// What all ranks have to agree on, as `planned` says it: "plan_digest",
// "sent_hash", "received_hash".
nlohmann::json AgreedFigures(const ProcessTransition& transition);

// The same, and the digest and byte counts that `prepared` carries too.
nlohmann::json PlanFigures(const ProcessTransition& transition);

// PlanFigures, "source_rank" and "target_rank" (-1: not in that world),
// "peers", "times_ms", and the tensors to bind: "sources" and
// "targets", each [{"index","name","state","dtype","local_shape"}]: all of the
// rank's, also those that it holds no element of.
nlohmann::json PlanSummary(const ProcessTransition& transition,
                           const std::map<std::string, double>& times_ms);

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_PLAN_SUMMARY_H_
