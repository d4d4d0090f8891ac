// FdBuffer: an output stream's buffer over a file descriptor that remembers why
// writing failed, so that a closed pipe is told from a full disk.
#ifndef TOOLS_CLI_FD_BUFFER_H_
#define TOOLS_CLI_FD_BUFFER_H_

#include <array>
#include <streambuf>

namespace dynatrain::cli {

class FdBuffer : public std::streambuf {
 public:
  // `fd` has to stay open. SIGPIPE must be ignored, or a closed pipe ends the
  // process.
  explicit FdBuffer(int fd);

  // errno of the first write that failed, 0 if none did. After it nothing more
  // is written.
  int error() const { return error_; }

 protected:
  int_type overflow(int_type character) override;
  int sync() override;

 private:
  bool Write();

  int fd_;
  int error_ = 0;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_FD_BUFFER_H_
