#include "transition/preview/whole_runs.h"

#include <algorithm>

#include "transition/plan/process_plan.h"

namespace dynatrain::transition {
namespace {

int UnionIndexOf(const PlanInput& input, const PeerExchange& peer) {
  return peer.peer_source_rank >= 0
             ? input.UnionIndexOfSource(peer.peer_source_rank)
             : input.UnionIndexOfTarget(peer.peer_target_rank);
}

// What the process copies and sends.
void AddProcess(const PlanInput& input, const Process& process, int index,
                WholeRuns& whole) {
  // In one of the worlds, so there is a plan for it.
  const ProcessPlan plan = *PlanForProcess(input, process.id);
  const PlanRuns runs = RunsOf(input, plan);
  whole.copied += runs.local;
  whole.moved += runs.send;
  for (size_t i = 0; i < plan.peers.size(); ++i) {
    if (plan.peers[i].send.empty()) continue;
    whole.pairs.push_back(
        {index, UnionIndexOf(input, plan.peers[i]), runs.peers[i].send});
  }
}

}  // namespace

int64_t WholeRuns::max_descriptors_of_a_pair() const {
  int64_t most = 0;
  for (const PairRuns& pair : pairs) {
    most = std::max(most, pair.runs.total().descriptors);
  }
  return most;
}

WholeRuns ComputeWholeRuns(const PlanInput& input) {
  WholeRuns whole;
  // Who joins copies nothing and sends nothing.
  for (int rank = 0; rank < input.source().size(); ++rank) {
    AddProcess(input, input.source().process(rank),
               input.UnionIndexOfSource(rank), whole);
  }
  std::sort(whole.pairs.begin(), whole.pairs.end(),
            [](const PairRuns& a, const PairRuns& b) {
              if (a.sender != b.sender) return a.sender < b.sender;
              return a.receiver < b.receiver;
            });
  return whole;
}

}  // namespace dynatrain::transition
