#include "operator/kube/object_cache.h"

#include <set>

#include "operator/kube/resource_version.h"

namespace dynatrain::control {
namespace {

ObjectCache::Key KeyOf(const Json& object) {
  return {NamespaceOf(object), NameOf(object)};
}

}  // namespace

SharedJson ObjectCache::Find(absl::string_view ns,
                             absl::string_view name) const {
  absl::MutexLock lock(&mutex_);
  const auto it = objects_.find({std::string(ns), std::string(name)});
  return it == objects_.end() ? nullptr : it->second;
}

std::vector<SharedJson> ObjectCache::All() const {
  absl::MutexLock lock(&mutex_);
  std::vector<SharedJson> all;
  for (const auto& [key, object] : objects_) all.push_back(object);
  return all;
}

std::vector<ObjectChange> ObjectCache::Put(Json object) {
  SharedJson& slot = objects_[KeyOf(object)];
  if (slot != nullptr &&
      !IsNewer(ResourceVersionOf(object), ResourceVersionOf(*slot))) {
    return {};
  }
  ObjectChange change;
  change.before = slot;
  slot = std::make_shared<const Json>(std::move(object));
  change.after = slot;
  return {change};
}

std::vector<ObjectChange> ObjectCache::Remove(const Json& object) {
  const auto it = objects_.find(KeyOf(object));
  // A newer one is a namesake that our own write made since.
  if (it == objects_.end() ||
      IsNewer(ResourceVersionOf(*it->second), ResourceVersionOf(object))) {
    return {};
  }
  ObjectChange change;
  change.before = it->second;
  objects_.erase(it);
  return {change};
}

std::vector<ObjectChange> ObjectCache::Replace(ObjectList list) {
  absl::MutexLock lock(&mutex_);
  std::vector<ObjectChange> changes;
  std::set<Key> listed;
  for (Json& item : list.items) {
    listed.insert(KeyOf(item));
    for (ObjectChange& change : Put(std::move(item))) {
      changes.push_back(std::move(change));
    }
  }
  for (auto it = objects_.begin(); it != objects_.end();) {
    const bool gone =
        !listed.contains(it->first) &&
        !IsNewer(ResourceVersionOf(*it->second), list.resource_version);
    if (!gone) {
      ++it;
      continue;
    }
    changes.push_back({.before = it->second, .after = nullptr});
    it = objects_.erase(it);
  }
  resource_version_ = list.resource_version;
  return changes;
}

std::vector<ObjectChange> ObjectCache::Apply(WatchEvent event) {
  absl::MutexLock lock(&mutex_);
  const std::string version = ResourceVersionOf(event.object);
  if (IsNewer(version, resource_version_)) resource_version_ = version;
  switch (event.type) {
    case WatchEvent::Type::kBookmark:
      return {};
    case WatchEvent::Type::kDeleted:
      return Remove(event.object);
    case WatchEvent::Type::kAdded:
    case WatchEvent::Type::kModified:
      return Put(std::move(event.object));
  }
  return {};
}

std::vector<ObjectChange> ObjectCache::ApplyOwnWrite(const Json& object) {
  absl::MutexLock lock(&mutex_);
  // What the watch has passed it has told already, deletions too.
  if (!IsNewer(ResourceVersionOf(object), resource_version_)) return {};
  return Put(object);
}

std::string ObjectCache::resource_version() const {
  absl::MutexLock lock(&mutex_);
  return resource_version_;
}

}  // namespace dynatrain::control
