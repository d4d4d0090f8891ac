// KubeClient: what the operator asks of the Kubernetes API server.
//
// A thin seam: HttpKubeClient speaks to a server, tests may put a fake here
// (or, better, a fake server behind HttpKubeClient: tests/kube).
//
//   ASSIGN_OR_RETURN(Json pod, client.Get(Pods(), "default", "gpt-0"));
//   absl::Status s = client.Delete(Pods(), "default", "gpt-0",
//                                  {.uid = UidOf(pod)});
//   // kAborted: a pod of that name, but another one.
//
// Every call has a deadline (the client's) and returns a Status as
// api_error.h tells; kUnavailable or kDeadlineExceeded if there was no answer,
// in which case a write may or may not have happened.
#ifndef OPERATOR_KUBE_CLIENT_H_
#define OPERATOR_KUBE_CLIENT_H_

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "operator/kube/json.h"
#include "operator/kube/resource.h"

namespace dynatrain::control {

// Which objects a list or a watch is about. Empty namespace: all.
struct Selection {
  std::string ns;
  std::string label_selector;  // "dynatrain.io/job"
  std::string field_selector;
};

struct ObjectList {
  std::vector<Json> items;  // with apiVersion and kind filled in
  std::string resource_version;
};

struct WatchEvent {
  enum class Type { kAdded, kModified, kDeleted, kBookmark };
  Type type;
  Json object;  // of a bookmark: only metadata.resourceVersion
};

struct WatchOptions {
  std::string resource_version;    // from where on
  absl::Duration server_timeout;   // the server ends the stream after it
  absl::Duration silence_timeout;  // we end it after so long without a byte
};

struct DeleteOptions {
  std::string uid;  // precondition; empty: whatever has the name
  std::optional<absl::Duration> grace_period;  // default: the pod's own
};

// Thread-safe.
class KubeClient {
 public:
  virtual ~KubeClient() = default;

  virtual absl::StatusOr<Json> Get(const Resource& resource,
                                   absl::string_view ns,
                                   absl::string_view name) = 0;

  // All objects of `selection`, in pages. `resource_version`: "0" lets the
  // server answer from its cache, "" asks for the newest, another means at
  // least that new. kOutOfRange if it has been forgotten.
  virtual absl::StatusOr<ObjectList> List(
      const Resource& resource, const Selection& selection,
      absl::string_view resource_version) = 0;

  // kAlreadyExists if there is one of that name.
  virtual absl::StatusOr<Json> Create(const Resource& resource,
                                      absl::string_view ns,
                                      const Json& object) = 0;

  // A merge patch (RFC 7386). With metadata.resourceVersion in it, kAborted if
  // the object is not at that version any more.
  virtual absl::StatusOr<Json> MergePatch(const Resource& resource,
                                          absl::string_view ns,
                                          absl::string_view name,
                                          const Json& patch) = 0;

  // Compare-and-swap of /status: merges `status_patch` into .status if the
  // object is at `resource_version`, else kAborted. Returns the new object.
  // REQUIRES: resource_version is not empty.
  virtual absl::StatusOr<Json> PatchStatus(const Resource& resource,
                                           absl::string_view ns,
                                           absl::string_view name,
                                           absl::string_view resource_version,
                                           const Json& status_patch) = 0;

  // Returns what the server answered: a pod that has a grace still exists, with
  // a deletionTimestamp. kAborted if the object has another uid than
  // options.uid; kNotFound if there is none.
  virtual absl::StatusOr<Json> Delete(const Resource& resource,
                                      absl::string_view ns,
                                      absl::string_view name,
                                      const DeleteOptions& options) = 0;

  // Calls `on_event` for each event, in the server's order, on the calling
  // thread. Returns OK when the server ended the stream, kOutOfRange if it has
  // forgotten the version, kDeadlineExceeded after silence, kCancelled soon
  // after `stop` was requested, else what ended it.
  virtual absl::Status Watch(const Resource& resource,
                             const Selection& selection,
                             const WatchOptions& options,
                             const std::function<void(WatchEvent)>& on_event,
                             std::stop_token stop) = 0;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_CLIENT_H_
