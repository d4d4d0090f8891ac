#include "tools/cli/fd_buffer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ostream>
#include <string>
#include <thread>

namespace dynatrain::cli {
namespace {

TEST(FdBufferTest, WritesAllThatItIsGiven) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string expected;
  for (int i = 0; i < 100000; ++i) expected += std::to_string(i);
  std::string read_text;
  std::jthread reader([&] {
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) {
      read_text.append(part, n);
    }
  });
  {
    FdBuffer buffer(ends[1]);
    std::ostream out(&buffer);
    for (char c : expected) out << c;
    out.flush();
    EXPECT_TRUE(out.good());
    EXPECT_EQ(buffer.error(), 0);
  }
  close(ends[1]);
  reader.join();
  EXPECT_EQ(read_text, expected);
  close(ends[0]);
}

TEST(FdBufferTest, RemembersThatNobodyReads) {
  signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  FdBuffer buffer(ends[1]);
  std::ostream out(&buffer);
  out << std::string(1 << 20, 'x') << std::flush;
  EXPECT_FALSE(out.good());
  EXPECT_EQ(buffer.error(), EPIPE);
  close(ends[1]);
}

TEST(FdBufferTest, RemembersThatTheDiskIsFull) {
  const int fd = open("/dev/full", O_WRONLY);
  ASSERT_GE(fd, 0);
  FdBuffer buffer(fd);
  std::ostream out(&buffer);
  out << "x" << std::flush;
  EXPECT_EQ(buffer.error(), ENOSPC);
  close(fd);
}

}  // namespace
}  // namespace dynatrain::cli
