#include "tools/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace dynatrain::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// A stream that tells when it has been written to.
class Watched : public std::stringbuf {
 public:
  void Await() {
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(&written_));
  }

 protected:
  int sync() override {
    absl::MutexLock lock(&mutex_);
    written_ = true;
    return 0;
  }

 private:
  absl::Mutex mutex_;
  bool written_ ABSL_GUARDED_BY(mutex_) = false;
};

TEST(ProgressTest, SaysWhatTakesLongAndWipesIt) {
  Watched buffer;
  std::ostream out(&buffer);
  Progress progress(out, /*is_terminal=*/true, absl::ZeroDuration());
  progress.Now("routing");
  buffer.Await();
  progress.Done();
  EXPECT_THAT(buffer.str(), HasSubstr("\r\033[K"));
  EXPECT_THAT(buffer.str(), HasSubstr(" s"));
  EXPECT_THAT(buffer.str(), EndsWith("\r\033[K"));
}

TEST(ProgressTest, SaysNothingOfWhatIsShort) {
  std::ostringstream out;
  {
    Progress progress(out, /*is_terminal=*/true, absl::Hours(1));
    progress.Now("routing");
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressTest, SaysNothingIntoFiles) {
  std::ostringstream out;
  Progress progress(out, /*is_terminal=*/false, absl::ZeroDuration());
  progress.Now("routing");
  progress.Done();
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace dynatrain::cli
