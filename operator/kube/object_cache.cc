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

std::vector<SharedJson> ObjectCache::All(const std::string& group) const {
  absl::MutexLock lock(&mutex_);
  std::vector<SharedJson> all;
  const auto it = groups_.find(group);
  if (it == groups_.end()) return all;
  for (const Key& key : it->second) all.push_back(objects_.at(key));
  return all;
}

void ObjectCache::Set(const Key& key, SharedJson object) {
  const auto it = objects_.find(key);
  if (it != objects_.end() && group_of_ != nullptr) {
    const auto group = groups_.find(group_of_(*it->second));
    group->second.erase(key);
    if (group->second.empty()) groups_.erase(group);
  }
  if (object == nullptr) {
    objects_.erase(key);
    return;
  }
  if (group_of_ != nullptr) groups_[group_of_(*object)].insert(key);
  objects_[key] = std::move(object);
}

std::vector<ObjectChange> ObjectCache::Put(Json object) {
  const Key key = KeyOf(object);
  ObjectChange change;
  const auto it = objects_.find(key);
  if (it != objects_.end()) change.before = it->second;
  if (change.before != nullptr &&
      !IsNewer(ResourceVersionOf(object), ResourceVersionOf(*change.before))) {
    return {};
  }
  change.after = std::make_shared<const Json>(std::move(object));
  Set(key, change.after);
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
  Set(KeyOf(object), nullptr);
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
  const std::map<Key, SharedJson> before = objects_;
  for (const auto& [key, object] : before) {
    if (listed.contains(key) ||
        IsNewer(ResourceVersionOf(*object), list.resource_version)) {
      continue;
    }
    changes.push_back({.before = object, .after = nullptr});
    Set(key, nullptr);
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
