// What an agent says, as the commit protocol's coordinator reads it.
#ifndef AGENT_CLIENT_MEMBER_REPORT_H_
#define AGENT_CLIENT_MEMBER_REPORT_H_

#include "agent/client/messages.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::agent {

// The report of an answering member: its ranks' route hashes summed, its
// plan digest the one all its ranks agree on (else "mixed").
transition::MemberReport ReportOf(const Observation& observation);

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_MEMBER_REPORT_H_
