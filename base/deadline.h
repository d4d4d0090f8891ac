// A point in monotonic time by which a wait has to end, or none.
//
// It is made once, where the wait begins, and passed down, so that a wait
// that consists of many short ones doesn't grow.
#ifndef BASE_DEADLINE_H_
#define BASE_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <limits>

namespace dynatrain {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline Never() { return Deadline(Clock::time_point::max()); }
  static Deadline After(std::chrono::milliseconds wait) {
    return Deadline(Clock::now() + wait);
  }
  static Deadline At(Clock::time_point when) { return Deadline(when); }

  bool never() const { return when_ == Clock::time_point::max(); }
  bool Passed() const { return !never() && Clock::now() >= when_; }
  Clock::time_point when() const { return when_; }

  // What poll(2) and epoll_wait(2) take: milliseconds left, rounded up so that
  // a wait doesn't spin in the last one; 0 if it has passed, -1 for Never().
  int PollTimeoutMs() const {
    if (never()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(when_ - Clock::now());
    return static_cast<int>(std::clamp<std::chrono::milliseconds::rep>(
        left.count(), 0, std::numeric_limits<int>::max()));
  }

  friend bool operator==(Deadline a, Deadline b) = default;
  friend auto operator<=>(Deadline a, Deadline b) = default;

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

}  // namespace dynatrain

#endif  // BASE_DEADLINE_H_
