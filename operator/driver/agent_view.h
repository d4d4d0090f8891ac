// What an agent said, as the reconcile function sees it.
#ifndef OPERATOR_DRIVER_AGENT_VIEW_H_
#define OPERATOR_DRIVER_AGENT_VIEW_H_

#include "operator/agents/agent_link.h"
#include "operator/reconcile/action.h"
#include "operator/reconcile/snapshot.h"

namespace dynatrain::control {

AgentObservation AgentViewOf(const AgentSeen& seen);

// The other way: what a decision asks for, in the agents' words.
agent::World ToAgentWorld(const World& world);
agent::Transition ToAgentTransition(const SendPrepare& prepare,
                                    const std::string& manifest);

}  // namespace dynatrain::control

#endif  // OPERATOR_DRIVER_AGENT_VIEW_H_
