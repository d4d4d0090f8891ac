// Requests to the rendezvous store, many at a time over the one socket.
#ifndef AGENT_RUNTIME_STORE_CLIENT_H_
#define AGENT_RUNTIME_STORE_CLIENT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "api/rank/frame.h"
#include "nlohmann/json.hpp"

namespace dynatrain::runtime {

struct StoreReply {
  bool ok = false;
  std::string value;
  int64_t number = 0;
  std::string error;
};

// Thread-safe.
class StoreClient {
 public:
  using Send = std::function<absl::Status(const api::Frame& frame)>;

  explicit StoreClient(Send send) : send_(std::move(send)) {}

  // `request` as in dt_store. Sends it, and waits for its reply for as long as
  // the request allows the store, and a little for the way. kInvalidArgument
  // names what is wrong in it.
  absl::StatusOr<StoreReply> Call(const nlohmann::json& request,
                                  absl::string_view value)
      ABSL_LOCKS_EXCLUDED(mutex_);
  // A `store_reply`; one that nobody waits for any more is dropped.
  absl::Status Deliver(const api::Frame& reply) ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends all calls, present and later.
  void Lose(const absl::Status& why) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Pending {
    bool done = false;
    StoreReply reply;
  };

  const Send send_;
  absl::Mutex mutex_;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  std::map<uint64_t, Pending*> pending_ ABSL_GUARDED_BY(mutex_);
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::runtime

#endif  // AGENT_RUNTIME_STORE_CLIENT_H_
