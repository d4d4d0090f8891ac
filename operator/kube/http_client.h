// KubeClient over HTTP.
//
// Rules (client-go's): a request is tried again only if the server said
// Retry-After with 429 or 5xx, or, for reads, if the connection broke; a 401
// makes it read the credentials again, once. A merge patch or a create whose
// answer was lost is not repeated: the caller looks what is there.
#ifndef OPERATOR_KUBE_HTTP_CLIENT_H_
#define OPERATOR_KUBE_HTTP_CLIENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "operator/kube/client.h"
#include "operator/kube/credentials.h"
#include "operator/kube/http_connection.h"

namespace dynatrain::control {

struct HttpClientOptions {
  std::string field_manager = "dynatrain-operator";
  // Of one call with all its attempts.
  absl::Duration deadline = absl::Seconds(30);
  int max_retries = 10;
  int page_size = 500;
  std::function<void(absl::Duration)> sleep = absl::SleepFor;
};

// Thread-safe: each call takes a connection of its own from a pool.
class HttpKubeClient final : public KubeClient {
 public:
  explicit HttpKubeClient(std::shared_ptr<Credentials> credentials,
                          HttpClientOptions options = {})
      : credentials_(std::move(credentials)), options_(std::move(options)) {}

  absl::StatusOr<Json> Get(const Resource& resource, absl::string_view ns,
                           absl::string_view name) override;
  absl::StatusOr<ObjectList> List(const Resource& resource,
                                  const Selection& selection,
                                  absl::string_view resource_version) override;
  absl::StatusOr<Json> Create(const Resource& resource, absl::string_view ns,
                              const Json& object) override;
  absl::StatusOr<Json> MergePatch(const Resource& resource,
                                  absl::string_view ns, absl::string_view name,
                                  const Json& patch) override;
  absl::StatusOr<Json> PatchStatus(const Resource& resource,
                                   absl::string_view ns, absl::string_view name,
                                   absl::string_view resource_version,
                                   const Json& status_patch) override;
  absl::StatusOr<Json> Delete(const Resource& resource, absl::string_view ns,
                              absl::string_view name,
                              const DeleteOptions& options) override;
  absl::Status Watch(const Resource& resource, const Selection& selection,
                     const WatchOptions& options,
                     const std::function<void(WatchEvent)>& on_event,
                     std::stop_token stop) override;

 private:
  absl::StatusOr<Json> Call(HttpRequest request);
  absl::StatusOr<HttpResponse> Attempt(HttpRequest& request);
  absl::StatusOr<std::unique_ptr<HttpConnection>> Take(const TlsIdentity& tls);
  void Give(std::unique_ptr<HttpConnection> connection);
  absl::StatusOr<ObjectList> ListPage(const Resource& resource,
                                      const Selection& selection,
                                      absl::string_view resource_version,
                                      absl::string_view continue_token,
                                      std::string& next_token);

  const std::shared_ptr<Credentials> credentials_;
  const HttpClientOptions options_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<HttpConnection>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_HTTP_CLIENT_H_
