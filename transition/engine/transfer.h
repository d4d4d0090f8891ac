// Carries out one process's part of a plan: sends, receives, copies, and
// proves that what lies in the final tensors is what lay in the sources.
//
// One loop in the calling thread drives all links and never blocks in one, so
// it is always ready to receive: no order of sends and receives among any
// number of processes can deadlock. Source memory is only read; whatever way it
// ends, the old world is untouched, byte for byte.
#ifndef TRANSITION_ENGINE_TRANSFER_H_
#define TRANSITION_ENGINE_TRANSFER_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "base/deadline.h"
#include "transition/engine/bindings.h"
#include "transition/engine/transfer_hooks.h"
#include "transition/plan/blobs.h"
#include "transition/plan/plan_input.h"
#include "transition/plan/process_plan.h"
#include "transition/transport/cancellation.h"
#include "transition/transport/transport.h"

namespace dynatrain::transition {

using Blobs = std::map<BlobKind, std::string>;

struct TransferInput {
  // Of one PlanInput.
  const PlanInput* plan_input = nullptr;
  const ProcessPlan* plan = nullptr;
  // Null if the process is in no such world.
  const Bindings* source = nullptr;
  const Bindings* target = nullptr;
  // To each peer of the plan, fresh.
  Links* links = nullptr;
  Blobs blobs;  // of the source world
  const TransferHooks* hooks = nullptr;
};

struct TransferReport {
  // Counted by the links: routes, digests, blobs.
  uint64_t bytes_sent = 0;
  uint64_t bytes_received = 0;
  int64_t bytes_copied = 0;  // within this process
  // Until all had been sent, received and copied; and from then until
  // the last digest was compared.
  double transfer_ms = 0;
  double verify_ms = 0;
  Blobs blobs;  // for the target world
};

// Runs it to the end. Errors: kUnavailable and kDataLoss name the peer,
// kDataLoss the tensor, region and ranks if a digest differs; kDeadlineExceeded
// says which peers are not done and how far they are; kCancelled;
// kFailedPrecondition names a tensor that isn't bound. After an error the links
// are of no use any more.
absl::StatusOr<TransferReport> RunTransfer(const TransferInput& input,
                                           Deadline deadline,
                                           const Cancellation& cancel);

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_TRANSFER_H_
