#include "tools/cli/fd_buffer.h"

#include <unistd.h>

#include <cerrno>

namespace dynatrain::cli {

FdBuffer::FdBuffer(int fd) : fd_(fd) {
  // One character is kept free for overflow().
  setp(buffer_.data(), buffer_.data() + buffer_.size() - 1);
}

bool FdBuffer::Write() {
  for (const char* at = pbase(); error_ == 0 && at < pptr();) {
    const ssize_t written = write(fd_, at, pptr() - at);
    if (written >= 0) {
      at += written;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size() - 1);
  return error_ == 0;
}

FdBuffer::int_type FdBuffer::overflow(int_type character) {
  if (!traits_type::eq_int_type(character, traits_type::eof())) {
    *pptr() = traits_type::to_char_type(character);
    pbump(1);
  }
  return Write() ? traits_type::not_eof(character) : traits_type::eof();
}

int FdBuffer::sync() { return Write() ? 0 : -1; }

}  // namespace dynatrain::cli
