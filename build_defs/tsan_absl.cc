// Tells TSan about absl::Mutex and its friends. Debian's Abseil isn't
// instrumented, so without this everything that one of its locks guards looks
// like a race.
//
// Linked into tests and programs under --config=tsan only. The functions have
// the names of Abseil's own, stand before its library in the search order, and
// call what they hide. A lock releases what its holder did to the next holder;
// that is all TSan needs. While Abseil runs, it may evaluate conditions of
// other threads, which are safe under the lock that it holds: reads and writes
// in there are not looked at.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace {

class Unseen {
 public:
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
};

// The function that ours hides. Member functions get `this` as their first
// argument, as in the Itanium ABI.
template <typename Function>
Function* Hidden(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// Releases `lock`, calls, and acquires it: what each call that gives a lock up
// and has it again means.
template <typename Call>
auto Across(void* lock, Call call) {
  __tsan_release(lock);
  const Unseen unseen;
  struct Acquire {
    void* lock;
    ~Acquire() { __tsan_acquire(lock); }
  } acquire{lock};
  return call();
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static auto* const hidden =
      Hidden<void(Mutex*)>("_ZN4absl7debian35Mutex4LockEv");
  {
    const Unseen unseen;
    hidden(this);
  }
  __tsan_acquire(this);
}

void Mutex::Unlock() {
  static auto* const hidden =
      Hidden<void(Mutex*)>("_ZN4absl7debian35Mutex6UnlockEv");
  __tsan_release(this);
  const Unseen unseen;
  hidden(this);
}

void Mutex::Await(const Condition& condition) {
  static auto* const hidden = Hidden<void(Mutex*, const Condition&)>(
      "_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE");
  Across(this, [&] { hidden(this, condition); });
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static auto* const hidden = Hidden<bool(Mutex*, const Condition&, Duration)>(
      "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_"
      "8DurationE");
  return Across(this, [&] { return hidden(this, condition, timeout); });
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  static auto* const hidden = Hidden<bool(Mutex*, const Condition&, Time)>(
      "_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  return Across(this, [&] { return hidden(this, condition, deadline); });
}

void CondVar::Wait(Mutex* mutex) {
  static auto* const hidden = Hidden<void(CondVar*, Mutex*)>(
      "_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE");
  Across(mutex, [&] { hidden(this, mutex); });
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static auto* const hidden = Hidden<bool(CondVar*, Mutex*, Duration)>(
      "_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  return Across(mutex, [&] { return hidden(this, mutex, timeout); });
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static auto* const hidden = Hidden<bool(CondVar*, Mutex*, Time)>(
      "_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  return Across(mutex, [&] { return hidden(this, mutex, deadline); });
}

void Notification::Notify() {
  static auto* const hidden =
      Hidden<void(Notification*)>("_ZN4absl7debian312Notification6NotifyEv");
  __tsan_release(this);
  const Unseen unseen;
  hidden(this);
}

void Notification::WaitForNotification() const {
  static auto* const hidden = Hidden<void(const Notification*)>(
      "_ZNK4absl7debian312Notification19WaitForNotificationEv");
  {
    const Unseen unseen;
    hidden(this);
  }
  __tsan_acquire(const_cast<Notification*>(this));
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  static auto* const hidden = Hidden<bool(const Notification*, Duration)>(
      "_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_"
      "8DurationE");
  const bool notified = [&] {
    const Unseen unseen;
    return hidden(this, timeout);
  }();
  __tsan_acquire(const_cast<Notification*>(this));
  return notified;
}

ABSL_NAMESPACE_END
}  // namespace absl
