#include "operator/kube/http_client.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "operator/kube/api_error.h"
#include "operator/kube/json_framer.h"
#include "operator/kube/query.h"

namespace dynatrain::control {
namespace {

constexpr char kMergePatch[] = "application/merge-patch+json";
constexpr char kJson[] = "application/json";

// What isn't UTF-8 is replaced: the server would refuse it, and dump() throw.
std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Query SelectionQuery(const Selection& selection) {
  Query query;
  query.AddIfSet("labelSelector", selection.label_selector);
  query.AddIfSet("fieldSelector", selection.field_selector);
  return query;
}

bool ShouldWaitAndRetry(const absl::Status& status) {
  const std::optional<ApiError> error = GetApiError(status);
  return error.has_value() && error->retry_after.has_value() &&
         (error->http_code == 429 || error->http_code >= 500);
}

absl::StatusOr<WatchEvent> ParseEvent(absl::string_view text) {
  Json json = Json::parse(text.begin(), text.end(), nullptr,
                          /*allow_exceptions=*/false);
  const std::string type = TextAt(json, "/type");
  if (type == "ERROR") return ToStatus(At(json, "/object"));
  using Type = WatchEvent::Type;
  for (const auto& [name, value] : {std::pair("ADDED", Type::kAdded),
                                    std::pair("MODIFIED", Type::kModified),
                                    std::pair("DELETED", Type::kDeleted),
                                    std::pair("BOOKMARK", Type::kBookmark)}) {
    if (type == name && At(json, "/object").is_object()) {
      return WatchEvent{value, std::move(json["object"])};
    }
  }
  return absl::InternalError(
      absl::StrCat("a watch event that is none: ", text.substr(0, 200)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpConnection>> HttpKubeClient::Take(
    const TlsIdentity& tls) {
  absl::MutexLock lock(&mutex_);
  while (!idle_.empty()) {
    std::unique_ptr<HttpConnection> connection = std::move(idle_.back());
    idle_.pop_back();
    // Others were made with a CA or certificate that has been replaced.
    if (connection->tls() == tls) return connection;
  }
  return HttpConnection::Create(credentials_->address(), tls);
}

void HttpKubeClient::Give(std::unique_ptr<HttpConnection> connection) {
  absl::MutexLock lock(&mutex_);
  idle_.push_back(std::move(connection));
}

absl::StatusOr<HttpResponse> HttpKubeClient::Attempt(HttpRequest& request) {
  ASSIGN_OR_RETURN(const Access access, credentials_->Current(), "credentials");
  request.token = access.token;
  ASSIGN_OR_RETURN(std::unique_ptr<HttpConnection> connection,
                   Take(access.tls));
  ASSIGN_OR_RETURN(HttpResponse response, connection->Send(request));
  Give(std::move(connection));
  if (response.code / 100 == 2) return response;
  return ToStatus(response.code, response.body, response.retry_after);
}

absl::StatusOr<Json> HttpKubeClient::Call(HttpRequest request) {
  const absl::Time end = absl::Now() + options_.deadline;
  bool credentials_read_again = false;
  for (int attempt = 0;; ++attempt) {
    request.deadline = end - absl::Now();
    request.silence = request.deadline;
    const absl::StatusOr<HttpResponse> response = Attempt(request);
    if (response.ok()) {
      Json json = Json::parse(response->body, nullptr, false);
      if (json.is_discarded()) {
        return absl::InternalError(absl::StrCat(
            request.method, " ", request.target, ": the answer is no JSON"));
      }
      return json;
    }
    const absl::Status& status = response.status();
    if (absl::IsUnauthenticated(status) && !credentials_read_again) {
      credentials_read_again = true;
      credentials_->Refused(request.token);
      continue;
    }
    absl::Duration pause = absl::ZeroDuration();
    if (ShouldWaitAndRetry(status)) {
      pause = *GetApiError(status)->retry_after;
    } else if (!absl::IsUnavailable(status) || request.method != "GET" ||
               GetApiError(status).has_value() || attempt > 0) {
      return status;
    }
    if (attempt >= options_.max_retries || absl::Now() + pause >= end) {
      return status;
    }
    options_.sleep(pause);
  }
}

absl::StatusOr<Json> HttpKubeClient::Get(const Resource& resource,
                                         absl::string_view ns,
                                         absl::string_view name) {
  return Call({.method = "GET", .target = ObjectPath(resource, ns, name)});
}

absl::StatusOr<ObjectList> HttpKubeClient::ListPage(
    const Resource& resource, const Selection& selection,
    absl::string_view resource_version, absl::string_view continue_token,
    std::string& next_token) {
  Query query = SelectionQuery(selection);
  query.Add("limit", absl::StrCat(options_.page_size));
  query.AddIfSet("continue", continue_token);
  // A page's version comes with its token.
  if (continue_token.empty())
    query.AddIfSet("resourceVersion", resource_version);
  ASSIGN_OR_RETURN(
      Json json,
      Call({.method = "GET",
            .target = query.After(CollectionPath(resource, selection.ns))}));
  ObjectList page;
  page.resource_version = ResourceVersionOf(json);
  next_token = TextAt(json, "/metadata/continue");
  if (!At(json, "/items").is_array()) return page;  // null if empty
  for (Json& item : json["items"]) {
    if (!item.is_object()) continue;
    // A list names the kind once, for all its items.
    item["apiVersion"] = resource.ApiVersion();
    item["kind"] = resource.kind;
    page.items.push_back(std::move(item));
  }
  return page;
}

absl::StatusOr<ObjectList> HttpKubeClient::List(
    const Resource& resource, const Selection& selection,
    absl::string_view resource_version) {
  ObjectList list;
  std::string token;
  do {
    std::string next;
    ASSIGN_OR_RETURN(ObjectList page, ListPage(resource, selection,
                                               resource_version, token, next));
    list.resource_version = page.resource_version;
    std::move(page.items.begin(), page.items.end(),
              std::back_inserter(list.items));
    token = std::move(next);
  } while (!token.empty());
  return list;
}

absl::StatusOr<Json> HttpKubeClient::Create(const Resource& resource,
                                            absl::string_view ns,
                                            const Json& object) {
  Query query;
  query.Add("fieldManager", options_.field_manager);
  query.Add("fieldValidation", "Strict");
  return Call({.method = "POST",
               .target = query.After(CollectionPath(resource, ns)),
               .content_type = kJson,
               .body = Dump(object)});
}

absl::StatusOr<Json> HttpKubeClient::MergePatch(const Resource& resource,
                                                absl::string_view ns,
                                                absl::string_view name,
                                                const Json& patch) {
  Query query;
  query.Add("fieldManager", options_.field_manager);
  return Call({.method = "PATCH",
               .target = query.After(ObjectPath(resource, ns, name)),
               .content_type = kMergePatch,
               .body = Dump(patch)});
}

absl::StatusOr<Json> HttpKubeClient::PatchStatus(
    const Resource& resource, absl::string_view ns, absl::string_view name,
    absl::string_view resource_version, const Json& status_patch) {
  Query query;
  query.Add("fieldManager", options_.field_manager);
  const Json patch = {
      {"metadata", {{"resourceVersion", std::string(resource_version)}}},
      {"status", status_patch}};
  return Call({.method = "PATCH",
               .target = query.After(
                   absl::StrCat(ObjectPath(resource, ns, name), "/status")),
               .content_type = kMergePatch,
               .body = Dump(patch)});
}

absl::StatusOr<Json> HttpKubeClient::Delete(const Resource& resource,
                                            absl::string_view ns,
                                            absl::string_view name,
                                            const DeleteOptions& options) {
  Json body = {{"kind", "DeleteOptions"},
               {"apiVersion", "v1"},
               {"propagationPolicy", "Background"}};
  if (!options.uid.empty()) body["preconditions"] = {{"uid", options.uid}};
  if (options.grace_period.has_value()) {
    body["gracePeriodSeconds"] = absl::ToInt64Seconds(*options.grace_period);
  }
  return Call({.method = "DELETE",
               .target = ObjectPath(resource, ns, name),
               .content_type = kJson,
               .body = Dump(body)});
}

absl::Status HttpKubeClient::Watch(
    const Resource& resource, const Selection& selection,
    const WatchOptions& options,
    const std::function<void(WatchEvent)>& on_event, std::stop_token stop) {
  Query query = SelectionQuery(selection);
  query.Add("watch", "1");
  query.Add("allowWatchBookmarks", "true");
  query.Add("resourceVersion", options.resource_version);
  query.Add("timeoutSeconds",
            absl::StrCat(absl::ToInt64Seconds(options.server_timeout)));
  ASSIGN_OR_RETURN(const Access access, credentials_->Current(), "credentials");
  // Its own connection, dropped afterwards: no one else waits behind a watch.
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpConnection> connection,
                   HttpConnection::Create(credentials_->address(), access.tls));
  const std::stop_callback abort(stop, [&] { connection->Abort(); });

  JsonFramer framer;
  absl::Status stream;
  const auto on_bytes = [&](absl::string_view bytes) {
    stream.Update(framer.Push(bytes, [&](absl::string_view frame) {
      if (!stream.ok()) return;
      absl::StatusOr<WatchEvent> event = ParseEvent(frame);
      if (event.ok()) {
        on_event(*std::move(event));
      } else {
        stream = event.status();
      }
    }));
    if (!stream.ok()) connection->Abort();
  };
  const absl::StatusOr<HttpResponse> response = connection->Send(
      {.method = "GET",
       .target = query.After(CollectionPath(resource, selection.ns)),
       .token = access.token,
       .deadline = absl::InfiniteDuration(),
       .silence = options.silence_timeout,
       .on_bytes = on_bytes});
  if (stop.stop_requested())
    return absl::CancelledError("the watch was stopped");
  RETURN_IF_ERROR(stream);
  RETURN_IF_ERROR(response.status());
  if (response->code / 100 == 2) return absl::OkStatus();
  if (response->code == 401) credentials_->Refused(access.token);
  return ToStatus(response->code, response->body, response->retry_after);
}

}  // namespace dynatrain::control
