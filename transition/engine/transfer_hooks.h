// Fail points of a transfer, for tests. They are reached only by who calls the
// C++ API with them: no environment variable and no option of the C ABI sets
// one.
#ifndef TRANSITION_ENGINE_TRANSFER_HOOKS_H_
#define TRANSITION_ENGINE_TRANSFER_HOOKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/types/span.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

struct TransferHooks {
  // After bytes of a route have been written to the final tensor; `bytes` is
  // the first contiguous stretch of them.
  std::function<void(const Route& route, absl::Span<std::byte> bytes)>
      after_unpack;
  // Before this process goes on with a peer; false: leave the peer alone this
  // round.
  std::function<bool(uint64_t peer_process_id, uint64_t bytes_sent)>
      before_peer;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_TRANSFER_HOOKS_H_
