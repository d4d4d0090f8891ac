#include "operator/kube/json.h"

namespace dynatrain::control {
namespace {

// A static, because callers hold a reference.
const Json& Null() {
  static const auto* const kNull = new Json(nullptr);
  return *kNull;
}

}  // namespace

const Json& At(const Json& object, absl::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    path.remove_prefix(1);  // The slash.
    const size_t end = path.find('/');
    const std::string key(path.substr(0, end));
    if (!at->is_object()) return Null();
    const auto it = at->find(key);
    if (it == at->end()) return Null();
    at = &*it;
    path =
        end == absl::string_view::npos ? absl::string_view() : path.substr(end);
  }
  return *at;
}

std::string TextAt(const Json& object, absl::string_view path,
                   absl::string_view otherwise) {
  const Json& value = At(object, path);
  return value.is_string() ? value.get<std::string>() : std::string(otherwise);
}

int64_t NumberAt(const Json& object, absl::string_view path,
                 int64_t otherwise) {
  const Json& value = At(object, path);
  return value.is_number_integer() ? value.get<int64_t>() : otherwise;
}

std::string NameOf(const Json& object) {
  return TextAt(object, "/metadata/name");
}
std::string NamespaceOf(const Json& object) {
  return TextAt(object, "/metadata/namespace");
}
std::string UidOf(const Json& object) {
  return TextAt(object, "/metadata/uid");
}
std::string ResourceVersionOf(const Json& object) {
  return TextAt(object, "/metadata/resourceVersion");
}

Json MergeDiff(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  Json patch = Json::object();
  for (const auto& [key, value] : from.items()) {
    if (!to.contains(key)) patch[key] = nullptr;
  }
  for (const auto& [key, value] : to.items()) {
    const auto old = from.find(key);
    if (old == from.end()) {
      patch[key] = value;
    } else if (*old != value) {
      patch[key] = MergeDiff(*old, value);
    }
  }
  return patch;
}

}  // namespace dynatrain::control
