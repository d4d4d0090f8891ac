// What the tool prints, word for word, for golden tests. After a change that is
// meant,
//   bazel run //tools/cli:golden_test       // or the other golden_..._test
// writes the test's files anew, to be looked at with git diff.
#ifndef TOOLS_CLI_GOLDEN_TESTUTIL_H_
#define TOOLS_CLI_GOLDEN_TESTUTIL_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/run.h"
#include "tools/cli/streams.h"

namespace dynatrain::cli {

inline constexpr char kData[] = "tools/cli/testdata/";

using Words = std::vector<std::string>;

inline std::string FileText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

inline Outcome RunWords(const Words& words, const std::string& input = "") {
  std::stringstream in(input), out, err;
  const ExitCode code =
      Run(words, {in, out, err, "dynatrain", /*err_is_terminal=*/false});
  return {code, out.str(), err.str()};
}

// `bazel run` says where the sources are; `bazel test` doesn't.
inline bool WritesGoldens() {
  return std::getenv("BUILD_WORKSPACE_DIRECTORY") != nullptr;
}

inline void ExpectGolden(const std::string& text, const std::string& path) {
  const char* sources = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (WritesGoldens()) {
    std::ofstream(absl::StrCat(sources, "/", path)) << text;
    return;
  }
  EXPECT_EQ(text, FileText(path))
      << path << "; if it is meant, bazel run this test";
}

inline std::string Data(const std::string& name) {
  return absl::StrCat(kData, name);
}

struct Golden {
  const char* file;
  Words words;
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_GOLDEN_TESTUTIL_H_
