#include "tools/cli/progress.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

namespace dynatrain::cli {

Progress::Progress(std::ostream& out, bool is_terminal, absl::Duration patience)
    : out_(out), patience_(patience) {
  if (is_terminal) watcher_ = std::thread([this] { Watch(); });
}

void Progress::Now(std::string what) {
  absl::MutexLock lock(&mutex_);
  what_ = std::move(what);
}

void Progress::Done() {
  {
    absl::MutexLock lock(&mutex_);
    done_ = true;
  }
  if (watcher_.joinable()) watcher_.join();
}

void Progress::Watch() {
  // Often enough to look alive.
  constexpr absl::Duration kBetween = absl::Milliseconds(200);
  const absl::Time began = absl::Now();
  absl::Duration wait = patience_;
  bool shown = false;
  while (true) {
    std::string what;
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&done_), wait)) break;
      what = what_;
    }
    // Back to the line's begin, and wipe it to its end.
    out_ << absl::StrFormat("\r\033[K%s, %.1f s", what,
                            absl::ToDoubleSeconds(absl::Now() - began))
         << std::flush;
    shown = true;
    wait = kBetween;
  }
  if (shown) out_ << "\r\033[K" << std::flush;
}

}  // namespace dynatrain::cli
