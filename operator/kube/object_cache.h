// The newest known version of each object of one kind.
//
// Two writers feed it: the watch, in the server's order, and our own writes,
// whose answers may be ahead of the watch. An object never goes back to an
// older version, and one that the watch has seen deleted doesn't come back by
// a late answer; so who reads here after a write reads at least that write.
#ifndef OPERATOR_KUBE_OBJECT_CACHE_H_
#define OPERATOR_KUBE_OBJECT_CACHE_H_

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "operator/kube/client.h"
#include "operator/kube/json.h"

namespace dynatrain::control {

using SharedJson = std::shared_ptr<const Json>;

// Before or after is null if the object appeared or went.
struct ObjectChange {
  SharedJson before;
  SharedJson after;
  const Json& object() const { return after != nullptr ? *after : *before; }
};

// Thread-safe.
class ObjectCache {
 public:
  // (namespace, name)
  using Key = std::pair<std::string, std::string>;

  // Groups objects: All() of one group costs its size only.
  using GroupOf = std::function<std::string(const Json&)>;

  explicit ObjectCache(GroupOf group_of = nullptr)
      : group_of_(std::move(group_of)) {}

  // Null if there is none.
  SharedJson Find(absl::string_view ns, absl::string_view name) const;
  std::vector<SharedJson> All() const;
  std::vector<SharedJson> All(const std::string& group) const;

  // A complete list took the place of what was known. Returns what that
  // changed; deletions that no event told of are among it.
  std::vector<ObjectChange> Replace(ObjectList list);

  // The watch's next event. Returns the change, if it is one.
  std::vector<ObjectChange> Apply(WatchEvent event);

  // The answer to a write of ours.
  std::vector<ObjectChange> ApplyOwnWrite(const Json& object);

  // How far the watch has come: where the next one begins.
  std::string resource_version() const;

 private:
  std::vector<ObjectChange> Put(Json object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<ObjectChange> Remove(const Json& object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // All changes of `objects_` and `groups_` go through this; null removes.
  void Set(const Key& key, SharedJson object)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const GroupOf group_of_;
  mutable absl::Mutex mutex_;
  std::map<Key, SharedJson> objects_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::set<Key>> groups_ ABSL_GUARDED_BY(mutex_);
  std::string resource_version_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_OBJECT_CACHE_H_
