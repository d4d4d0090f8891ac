// Progress: says on a terminal what takes long, once it has taken a second, on
// one line that is gone when it is done. On anything else it says nothing.
//
//   Progress progress(streams.err, streams.err_is_terminal);
//   progress.Now("routing");
//   ...
//   progress.Done();       // before anything else is written
#ifndef TOOLS_CLI_PROGRESS_H_
#define TOOLS_CLI_PROGRESS_H_

#include <ostream>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace dynatrain::cli {

// Thread-safe. Writes to `out` from a thread of its own until Done.
class Progress {
 public:
  Progress(std::ostream& out, bool is_terminal,
           absl::Duration patience = absl::Seconds(1));
  ~Progress() { Done(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is being done from now on.
  void Now(std::string what);
  // Wipes the line; nothing is written after it.
  void Done();

 private:
  void Watch();

  std::ostream& out_;
  const absl::Duration patience_;
  absl::Mutex mutex_;
  std::string what_ ABSL_GUARDED_BY(mutex_);
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread watcher_;  // none if nobody would see it
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PROGRESS_H_
