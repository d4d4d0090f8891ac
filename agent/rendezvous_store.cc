#include "agent/rendezvous_store.h"

#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace dynatrain::agent {
namespace {

// "" if the operation has as many keys as it wants.
std::string WrongKeys(const StoreRequest& request) {
  const bool many = request.op == "wait" || request.op == "check";
  const size_t wanted = request.op == "num_keys" ? 0 : 1;
  if (many || request.keys.size() == wanted) return "";
  return absl::StrCat("invalid: ", request.op, " takes ", wanted,
                      " key(s), got ", request.keys.size());
}

}  // namespace

StoreReply StoreError(std::string error) {
  return {.ok = false, .error = std::move(error)};
}

StoreReply RendezvousStore::Call(const StoreRequest& request) {
  if (std::string wrong = WrongKeys(request); !wrong.empty()) {
    return StoreError(std::move(wrong));
  }
  absl::MutexLock lock(&mutex_);
  if (!closed_.empty()) return StoreError(absl::StrCat("closed: ", closed_));
  if (request.op == "get") return Get(request);
  if (request.op == "wait") return Wait(request);
  if (request.op == "set") return Set(request.keys[0], request.value);
  if (request.op == "add") return Add(request);
  if (request.op == "check") {
    return {.ok = true, .number = HasAll(request) ? 1 : 0};
  }
  if (request.op == "compare_set") return CompareSet(request);
  if (request.op == "delete") return Delete(request.keys[0]);
  if (request.op == "num_keys") {
    return {.ok = true, .number = static_cast<int64_t>(values_.size())};
  }
  return StoreError(absl::StrCat(
      "invalid: unknown operation '", request.op,
      "', want set, get, add, wait, check, compare_set, delete or num_keys"));
}

void RendezvousStore::Close(absl::string_view reason) {
  absl::MutexLock lock(&mutex_);
  if (!closed_.empty()) return;
  closed_ = std::string(reason);
  values_.clear();
  changed_.SignalAll();
}

bool RendezvousStore::HasAll(const StoreRequest& request) const {
  for (const std::string& key : request.keys) {
    if (values_.find(key) == values_.end()) return false;
  }
  return true;
}

StoreReply RendezvousStore::Wait(const StoreRequest& request) {
  const absl::Time until = absl::Now() + absl::FromChrono(request.timeout);
  while (closed_.empty() && !HasAll(request)) {
    if (changed_.WaitWithDeadline(&mutex_, until) && closed_.empty() &&
        !HasAll(request)) {
      return StoreError(absl::StrCat(
          "timeout: not all of '", absl::StrJoin(request.keys, "', '"),
          "' were set within ", request.timeout.count(), " ms"));
    }
  }
  if (!closed_.empty()) return StoreError(absl::StrCat("closed: ", closed_));
  return {.ok = true};
}

StoreReply RendezvousStore::Get(const StoreRequest& request) {
  StoreReply reply = Wait(request);
  if (reply.ok) reply.value = values_.at(request.keys[0]);
  return reply;
}

StoreReply RendezvousStore::Set(const std::string& key,
                                const std::string& value) {
  auto it = values_.find(key);
  const size_t before =
      it == values_.end() ? 0 : key.size() + it->second.size();
  const size_t after = bytes_ - before + key.size() + value.size();
  if (after > kMaxBytes) {
    return StoreError(absl::StrCat("full: '", key, "' would make it ", after,
                                   " bytes, at most ", kMaxBytes));
  }
  bytes_ = after;
  values_[key] = value;
  changed_.SignalAll();
  return {.ok = true};
}

StoreReply RendezvousStore::Add(const StoreRequest& request) {
  const std::string& key = request.keys[0];
  int64_t number = 0;
  auto it = values_.find(key);
  if (it != values_.end() && !absl::SimpleAtoi(it->second, &number)) {
    return StoreError(absl::StrCat("invalid: add to '", key, "', which holds ",
                                   it->second.size(),
                                   " bytes that are no number"));
  }
  int64_t sum = 0;
  if (__builtin_add_overflow(number, request.amount, &sum)) {
    return StoreError(absl::StrCat("invalid: add to '", key, "': ", number,
                                   " + ", request.amount, " overflows"));
  }
  StoreReply reply = Set(key, absl::StrCat(sum));
  reply.number = sum;
  return reply;
}

StoreReply RendezvousStore::CompareSet(const StoreRequest& request) {
  const std::string& key = request.keys[0];
  auto it = values_.find(key);
  const bool equal = it == values_.end() ? request.expected.empty()
                                         : it->second == request.expected;
  if (!equal) {
    return {.ok = true,
            .value = it == values_.end() ? request.expected : it->second};
  }
  StoreReply reply = Set(key, request.value);
  if (reply.ok) reply.value = request.value;
  return reply;
}

StoreReply RendezvousStore::Delete(const std::string& key) {
  auto it = values_.find(key);
  if (it == values_.end()) return {.ok = true, .number = 0};
  bytes_ -= key.size() + it->second.size();
  values_.erase(it);
  return {.ok = true, .number = 1};
}

}  // namespace dynatrain::agent
