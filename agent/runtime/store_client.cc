#include "agent/runtime/store_client.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;

constexpr int64_t kMaxTimeoutMs = int64_t{24} * 3600 * 1000;
// For two hops and a busy machine, beyond what the store itself may take.
constexpr absl::Duration kWay = absl::Seconds(10);

struct Request {
  json frame;
  absl::Duration timeout;
};

absl::StatusOr<Request> ReadRequest(const json& request,
                                    absl::string_view value) {
  api::ObjectReader reader(request, "request");
  Request read;
  const std::string op = reader.Text("op");
  if (op.empty()) reader.Refuse("op", "must be given");
  const json& keys = reader.At("keys");
  const bool texts =
      keys.is_null() ||
      (keys.is_array() && std::all_of(keys.begin(), keys.end(), [](auto& key) {
         return key.is_string();
       }));
  if (!texts) reader.Refuse("keys", "is not a list of texts");
  std::string expected;
  if (!absl::Base64Unescape(reader.Text("expected_b64"), &expected)) {
    reader.Refuse("expected_b64", "is not base64");
  }
  const int64_t timeout_ms =
      reader.Int("timeout_ms", 0, kMaxTimeoutMs, 300'000);
  read.timeout = absl::Milliseconds(timeout_ms);
  read.frame = {{"kind", "store"},
                {"op", op},
                {"g", reader.Int("g", 0, INT64_MAX, 0)},
                {"keys", keys.is_null() ? json::array() : keys},
                {"value", api::BinaryField(value)},
                {"expected", api::BinaryField(expected)},
                {"amount", reader.Int("amount", INT64_MIN, INT64_MAX, 0)},
                {"timeout_ms", timeout_ms}};
  RETURN_IF_ERROR(reader.status());
  return read;
}

}  // namespace

absl::StatusOr<StoreReply> StoreClient::Call(const json& request,
                                             absl::string_view value) {
  ASSIGN_OR_RETURN(Request read, ReadRequest(request, value));
  Pending pending;
  uint64_t id = 0;
  {
    absl::MutexLock lock(&mutex_);
    RETURN_IF_ERROR(lost_);
    id = next_id_++;
    pending_[id] = &pending;
  }
  read.frame["id"] = id;
  const std::string op = read.frame["op"];
  const absl::Status sent = send_(api::Frame::Of(std::move(read.frame)));
  absl::MutexLock lock(&mutex_);
  auto answered = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return pending.done || !lost_.ok();
  };
  if (sent.ok()) {
    mutex_.AwaitWithTimeout(absl::Condition(&answered), read.timeout + kWay);
  }
  pending_.erase(id);
  RETURN_IF_ERROR(sent);
  if (pending.done) return std::move(pending.reply);
  RETURN_IF_ERROR(lost_);
  return absl::DeadlineExceededError(
      absl::StrCat("the agent didn't answer store \"", op, "\" within ",
                   absl::FormatDuration(read.timeout + kWay)));
}

absl::Status StoreClient::Deliver(const api::Frame& reply) {
  StoreReply read;
  ASSIGN_OR_RETURN(const uint64_t id, reply.Uint("id"));
  ASSIGN_OR_RETURN(read.ok, reply.Bool("ok"));
  ASSIGN_OR_RETURN(read.value, reply.Bytes("value"));
  if (reply.Has("number")) {
    ASSIGN_OR_RETURN(read.number, reply.Int("number"));
  }
  if (reply.Has("error")) {
    ASSIGN_OR_RETURN(read.error, reply.Text("error"));
  }
  absl::MutexLock lock(&mutex_);
  const auto it = pending_.find(id);
  if (it == pending_.end()) return absl::OkStatus();
  it->second->reply = std::move(read);
  it->second->done = true;
  return absl::OkStatus();
}

void StoreClient::Lose(const absl::Status& why) {
  absl::MutexLock lock(&mutex_);
  if (lost_.ok()) lost_ = why;
}

}  // namespace dynatrain::runtime
