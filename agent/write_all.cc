#include "agent/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace dynatrain::agent {
namespace {

// One each, so that a full standard output, which ranks fill, doesn't hold up
// the agent's own log on standard error.
ABSL_CONST_INIT absl::Mutex output_mutex(absl::kConstInit);
ABSL_CONST_INIT absl::Mutex other_mutex(absl::kConstInit);

}  // namespace

void WriteAll(int fd, absl::string_view bytes) {
  absl::MutexLock lock(fd == STDOUT_FILENO ? &output_mutex : &other_mutex);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(written);
    } else if (errno == EAGAIN) {  // the container runtime's pipe is full
      pollfd full{fd, POLLOUT, 0};
      ::poll(&full, 1, -1);
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace dynatrain::agent
