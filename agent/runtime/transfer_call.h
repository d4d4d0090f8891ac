// One call of dt_transfer: from the stop at the boundary to the outcome.
#ifndef AGENT_RUNTIME_TRANSFER_CALL_H_
#define AGENT_RUNTIME_TRANSFER_CALL_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/runtime/orders.h"
#include "agent/runtime/process_transition.h"
#include "nlohmann/json.hpp"
#include "transition/engine/transfer.h"

namespace dynatrain::runtime {

struct TransferOutcome {
  bool committed = false;  // else the old world goes on
  nlohmann::json report;
};

class TransferCall {
 public:
  using Send = std::function<absl::Status(nlohmann::json fields)>;

  TransferCall(ProcessTransition& transition, Orders& orders, Send send);

  // As dt_transfer. Before `verified` is reported any failure keeps the old
  // world; after it only the agent's word ends the wait.
  absl::StatusOr<TransferOutcome> Run();

 private:
  absl::StatusOr<TransferOutcome> MoveAndWait(
      const Orders::Cancellation& cancel);
  absl::StatusOr<Orders::Word> WaitInDoubt();
  // Reports the failure and waits until the agent has heard of it.
  absl::StatusOr<TransferOutcome> Fail(absl::string_view stage,
                                       const absl::Status& why);
  absl::StatusOr<TransferOutcome> Keep(const char* by);
  void Lap(const char* name);

  ProcessTransition& transition_;
  Orders& orders_;
  const Send send_;
  const uint64_t generation_;
  std::chrono::steady_clock::time_point lap_;
  nlohmann::json report_;
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_TRANSFER_CALL_H_
