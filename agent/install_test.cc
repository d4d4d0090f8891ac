#include "agent/install.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace dynatrain::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class InstallTest : public ::testing::Test {
 protected:
  InstallTest() : root_(fs::path(::testing::TempDir()) / "install") {
    fs::remove_all(root_);
    Write("image/dynatrain-agent", "binary");
    fs::permissions(root_ / "image/dynatrain-agent", fs::perms(0755));
    Write("image/lib/libdynatrain.so", "library");
    Write("image/python/dynatrain/__init__.py", "package");
    Write("image/python/dynatrain/__pycache__/x.pyc", "cache");
  }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string Read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(root_ / name).rdbuf();
    return text.str();
  }
  absl::Status Run() {
    return Install(root_ / "image/dynatrain-agent", root_ / "pod/dynatrain");
  }

  const fs::path root_;
};

TEST_F(InstallTest, BringsAllParts) {
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Read("pod/dynatrain/dynatrain-agent"), "binary");
  EXPECT_EQ(Read("pod/dynatrain/lib/libdynatrain.so"), "library");
  EXPECT_EQ(Read("pod/dynatrain/python/dynatrain/__init__.py"), "package");
  EXPECT_FALSE(
      fs::exists(root_ / "pod/dynatrain/python/dynatrain/__pycache__"));
  EXPECT_EQ(fs::status(root_ / "pod/dynatrain/dynatrain-agent").permissions(),
            fs::perms(0755));
}

TEST_F(InstallTest, AgainOverAnOlderOne) {
  ASSERT_TRUE(Run().ok());
  Write("image/lib/libdynatrain.so", "newer");
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Read("pod/dynatrain/lib/libdynatrain.so"), "newer");
  EXPECT_FALSE(fs::exists(root_ / "pod/dynatrain/lib/libdynatrain.so.part"));
}

TEST_F(InstallTest, NamesWhatIsMissing) {
  fs::remove_all(root_ / "image/lib");
  EXPECT_THAT(Run().message(), HasSubstr("image/lib: No such file"));
}

}  // namespace
}  // namespace dynatrain::agent
