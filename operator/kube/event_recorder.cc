#include "operator/kube/event_recorder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "operator/kube/log_text.h"
#include "operator/kube/time_text.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {
namespace {

constexpr absl::Duration kSeriesWindow = absl::Minutes(6);
constexpr absl::Duration kFlushAtEnd = absl::Seconds(3);
constexpr size_t kMaxQueued = 1000;
constexpr size_t kMaxNoteBytes = 950;  // the server's limit is 1024
constexpr size_t kMaxNameBytes = 200;

Json Reference(const Json& object) {
  return {{"apiVersion", TextAt(object, "/apiVersion")},
          {"kind", TextAt(object, "/kind")},
          {"namespace", NamespaceOf(object)},
          {"name", NameOf(object)},
          {"uid", UidOf(object)}};
}

}  // namespace

EventRecorder::EventRecorder(KubeClient* client, EventRecorderOptions options)
    : client_(client),
      options_(std::move(options)),
      thread_([this](std::stop_token stop) { Run(stop); }) {}

EventRecorder::~EventRecorder() {
  Flush(kFlushAtEnd);
  absl::MutexLock lock(&mutex_);
  queue_.clear();
  stopping_ = true;
}

void EventRecorder::Record(const Json& regarding, const Event& event) {
  Item item = {.regarding = regarding, .event = event, .time = options_.now()};
  absl::MutexLock lock(&mutex_);
  if (queue_.size() >= kMaxQueued) queue_.pop_front();
  queue_.push_back(std::move(item));
}

bool EventRecorder::Flush(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(this, &EventRecorder::Idle),
                                 timeout);
}

void EventRecorder::Run(std::stop_token) {
  const auto work = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  while (true) {
    Item item;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(&work));
      if (stopping_) return;
      item = std::move(queue_.front());
      queue_.pop_front();
      sending_ = true;
    }
    Send(item);
    absl::MutexLock lock(&mutex_);
    sending_ = false;
  }
}

void EventRecorder::Send(const Item& item) {
  const Key key = {UidOf(item.regarding), item.event.warning, item.event.reason,
                   item.event.action};
  Forget(item.time);
  if (!RaiseSeries(key, item)) Create(key, item);
}

bool EventRecorder::RaiseSeries(const Key& key, const Item& item) {
  const auto it = sent_.find(key);
  if (it == sent_.end()) return false;
  Sent& sent = it->second;
  const Json patch = {{"series",
                       {{"count", sent.count + 1},
                        {"lastObservedTime", MicroTimeText(item.time)}}}};
  const absl::Status status =
      client_->MergePatch(Events(), sent.ns, sent.name, patch).status();
  if (absl::IsNotFound(status)) {  // Events live for an hour.
    sent_.erase(it);
    return false;
  }
  if (!status.ok()) {
    spdlog::warn("msg=\"event dropped\" reason={} error=\"{}\"",
                 item.event.reason, LogText(status));
    return true;
  }
  ++sent.count;
  sent.last = item.time;
  return true;
}

void EventRecorder::Create(const Key& key, const Item& item) {
  // An event of a cluster-wide object lives in "default".
  std::string ns = NamespaceOf(item.regarding);
  if (ns.empty()) ns = "default";
  const std::string name =
      absl::StrFormat("%s.%x", NameOf(item.regarding).substr(0, kMaxNameBytes),
                      absl::ToUnixNanos(item.time));
  const Json event = {{"apiVersion", Events().ApiVersion()},
                      {"kind", Events().kind},
                      {"metadata", {{"name", name}, {"namespace", ns}}},
                      {"eventTime", MicroTimeText(item.time)},
                      {"type", item.event.warning ? "Warning" : "Normal"},
                      {"reason", item.event.reason},
                      {"action", item.event.action},
                      {"note", item.event.note.substr(0, kMaxNoteBytes)},
                      {"reportingController", options_.controller},
                      {"reportingInstance", options_.instance},
                      {"regarding", Reference(item.regarding)}};
  const absl::Status status = client_->Create(Events(), ns, event).status();
  if (!status.ok()) {
    spdlog::warn("msg=\"event dropped\" reason={} note=\"{}\" error=\"{}\"",
                 item.event.reason, item.event.note, LogText(status));
    return;
  }
  sent_[key] = {.ns = ns, .name = name, .count = 1, .last = item.time};
}

void EventRecorder::Forget(absl::Time now) {
  std::erase_if(sent_, [&](const auto& entry) {
    return now - entry.second.last > kSeriesWindow;
  });
}

}  // namespace dynatrain::control
