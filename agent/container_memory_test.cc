#include "agent/container_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dynatrain::agent {
namespace {

class ContainerMemoryTest : public ::testing::Test {
 protected:
  ContainerMemoryTest() : root_(::testing::TempDir() + "cgroup") {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }

  void Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  const std::string root_;
};

TEST_F(ContainerMemoryTest, Version2OfTheOwnGroup) {
  Write("pod/c1/memory.max", "1000\n");
  Write("pod/c1/memory.current", "700\n");
  Write("pod/c1/memory.stat", "anon 5\ninactive_file 300\n");
  const auto memory = ReadContainerMemory(root_, "0::/pod/c1\n");
  EXPECT_EQ(memory.limit_bytes, 1000);
  EXPECT_EQ(memory.used_bytes, 400);
}

TEST_F(ContainerMemoryTest, Version2WithoutALimitAtTheTop) {
  Write("memory.max", "max\n");
  Write("memory.current", "700\n");
  const auto memory = ReadContainerMemory(root_, "0::/../elsewhere\n");
  EXPECT_EQ(memory.limit_bytes, 0);
  EXPECT_EQ(memory.used_bytes, 700);
}

TEST_F(ContainerMemoryTest, Version1) {
  Write("memory/kubepods/c1/memory.limit_in_bytes", "2000\n");
  Write("memory/kubepods/c1/memory.usage_in_bytes", "900\n");
  Write("memory/kubepods/c1/memory.stat", "total_inactive_file 1000\n");
  const auto memory = ReadContainerMemory(
      root_, "3:cpu,cpuacct:/x\n7:memory:/kubepods/c1\n0::/\n");
  EXPECT_EQ(memory.limit_bytes, 2000);
  EXPECT_EQ(memory.used_bytes, 0);  // never below
}

TEST_F(ContainerMemoryTest, Version1WithoutALimit) {
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("memory/memory.usage_in_bytes", "900\n");
  EXPECT_EQ(ReadContainerMemory(root_, "").limit_bytes, 0);
  EXPECT_EQ(ReadContainerMemory(root_, "").used_bytes, 900);
}

TEST_F(ContainerMemoryTest, NothingThere) {
  EXPECT_EQ(ReadContainerMemory(root_, "nonsense").used_bytes, 0);
}

}  // namespace
}  // namespace dynatrain::agent
