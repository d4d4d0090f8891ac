// The rendezvous store of one generation: where the ranks of the next world
// meet while their process groups are created. The calls mean what
// torch.distributed.Store means by them.
#ifndef AGENT_RENDEZVOUS_STORE_H_
#define AGENT_RENDEZVOUS_STORE_H_

#include <cstddef>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "agent/client/messages.h"

namespace dynatrain::agent {

// A reply that says why a call failed.
StoreReply StoreError(std::string error);

// Thread-safe: calls that wait hinder no others.
class RendezvousStore {
 public:
  // Keys and values together; beyond it `set` fails. Gloo's addresses and
  // torch's barriers take a few KiB a rank.
  static constexpr size_t kMaxBytes = size_t{256} << 20;

  // Carries out one operation; those that wait end after request.timeout.
  //   set(key, value)            add(key, amount) -> number, from 0
  //   get(key) -> value, waits   wait(keys...), waits for all of them
  //   check(keys...) -> number 1 if all are there, else 0
  //   compare_set(key, expected, value) -> what is there afterwards; an absent
  //       key equals an empty `expected`
  //   delete(key) -> number 1 if it was there     num_keys -> number
  // Errors begin with "invalid: ", "timeout: ", "closed: " or "full: ".
  StoreReply Call(const StoreRequest& request) ABSL_LOCKS_EXCLUDED(mutex_);

  // All calls, also those that wait now, fail with "closed: <reason>".
  void Close(absl::string_view reason) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  StoreReply Get(const StoreRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StoreReply Wait(const StoreRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StoreReply Set(const std::string& key, const std::string& value)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StoreReply Add(const StoreRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StoreReply CompareSet(const StoreRequest& request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  StoreReply Delete(const std::string& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasAll(const StoreRequest& request) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::Mutex mutex_;
  absl::CondVar changed_;
  std::map<std::string, std::string> values_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string closed_ ABSL_GUARDED_BY(mutex_);  // why; empty while open
};

}  // namespace dynatrain::agent

#endif  // AGENT_RENDEZVOUS_STORE_H_
