// What an agent says, as the commit protocol's coordinator reads it.
#ifndef AGENT_CLIENT_MEMBER_REPORT_H_
#define AGENT_CLIENT_MEMBER_REPORT_H_

#include "agent/client/messages.h"
#include "transition/commit/coordinator.h"

namespace dynatrain::agent {

// The report of an answering member: its ranks' route hashes summed, its
// plan digest the one that all its ranks agree on that have said theirs (else
// "mixed"; then the member has failed, see transition::Participant).
transition::MemberReport ReportOf(const Observation& observation);

}  // namespace dynatrain::agent

#endif  // AGENT_CLIENT_MEMBER_REPORT_H_
