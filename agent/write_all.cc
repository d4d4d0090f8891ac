#include "agent/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

namespace dynatrain::agent {
namespace {

ABSL_CONST_INIT absl::Mutex write_mutex(absl::kConstInit);

}  // namespace

void WriteAll(int fd, absl::string_view bytes) {
  absl::MutexLock lock(&write_mutex);
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
