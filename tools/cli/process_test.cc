// The tool as a process among others: pipes that close early, full disks, and
// its completion scripts in real shells.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace dynatrain::cli {
namespace {

using ::testing::HasSubstr;

// What `script` prints in bash, both streams; it must end with status 0. `d` is
// the tool.
std::string Bash(const std::string& script) {
  const std::string command =
      "timeout 50 bash --norc -c 'd() { tools/cli/dynatrain \"$@\"; }\n" +
      script + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string text;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) {
    text.append(part, n);
  }
  EXPECT_EQ(WEXITSTATUS(pclose(pipe)), 0) << text;
  return text;
}

TEST(ProcessTest, WhoeverReadsMayHaveHadEnough) {
  // Far more than a pipe holds, so that writing does fail.
  EXPECT_EQ(Bash("d layout -o json -r 0-63 tools/cli/testdata/large.yaml"
                 " | head -c 10; echo \" ${PIPESTATUS[0]}\""),
            "{\"version\" 0\n");
}

TEST(ProcessTest, WhatCannotBeWrittenIsAnError) {
  EXPECT_EQ(Bash("d --version > /dev/full; echo $?"),
            "dynatrain: the output can't be written: No space left on "
            "device\n4\n");
  EXPECT_THAT(Bash("d --version >&-; echo $?"),
              HasSubstr("Bad file descriptor\n4\n"));
}

TEST(ProcessTest, AsAPluginOfKubectlItHasItsName) {
  EXPECT_THAT(Bash("(exec -a kubectl-dynatrain tools/cli/dynatrain --help)"),
              HasSubstr("Usage: kubectl dynatrain COMMAND"));
}

// What bash would offer for the last of the words, one per line, in a folder
// with files and with folders that are named like words of the command line.
std::string Completed(const std::string& words) {
  return Bash(R"sh(
    source <(d completion bash)
    compopt() { echo "compopt $*"; }
    cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"
    mkdir layout json "a folder"; touch "my job.yaml" "*.yaml" other.yaml
    COMP_WORDS=(dynatrain )sh" +
              words + R"sh(); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _dynatrain
    [ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}")sh");
}

TEST(ProcessTest, BashCompletesCommandsOptionsAndTheirValues) {
  EXPECT_EQ(Completed("la"), "layout\n");
  EXPECT_EQ(Completed("\"\""),
            "layout\nexplain\nplan\nsimulate\ncompletion\n--help\n--version\n");
  EXPECT_EQ(Completed("layout --di"), "--diff\n");
  EXPECT_EQ(Completed("explain --"), "--element\n--state\n--help\n");
  EXPECT_EQ(Completed("layout job.yaml -o js"), "json\n");
  EXPECT_EQ(Completed("layout --output \"\""), "table\njson\nsvg\n");
  // Bash takes "=" for a word of its own.
  EXPECT_EQ(Completed("layout --output = js"), "json\n");
  EXPECT_EQ(Completed("layout --output ="), "table\njson\nsvg\n");
  EXPECT_EQ(Completed("layout --rank o"), "") << "ranks are no files";
  EXPECT_EQ(Completed("completion z"), "zsh\n");
  EXPECT_EQ(Completed("plan --ch"), "--check\n");
  EXPECT_EQ(Completed("plan --check --from"), "--from\n--from-nodes\n");
  EXPECT_EQ(Completed("plan -m llama2-7"),
            "compopt -o filenames\nllama2-7b\nllama2-70b\n");
  EXPECT_EQ(Completed("plan --cluster my"),
            "compopt -o filenames\nmy job.yaml\n");
  EXPECT_EQ(Completed("plan -c h1"), "compopt -o filenames\nh100x16\n");
}

TEST(ProcessTest, BashCompletesFilesWhateverTheirNames) {
  EXPECT_EQ(Completed("layout my"), "compopt -o filenames\nmy job.yaml\n");
  EXPECT_EQ(Completed("layout a"), "compopt -o filenames\na folder\n");
  EXPECT_EQ(Completed("layout \"*.y\""), "compopt -o filenames\n*.yaml\n");
  EXPECT_EQ(Completed("layout job.yaml -d oth"),
            "compopt -o filenames\nother.yaml\n");
  EXPECT_EQ(Completed("layout nothing"), "compopt -o filenames\n");
}

TEST(ProcessTest, ZshCompletesInARealOne) {
  EXPECT_EQ(Bash(R"sh(
    tool=$PWD/tools/cli/dynatrain drive=$PWD/tools/cli/testdata/complete.zsh
    cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"; touch myjob.yaml my-cluster.yaml
    zsh -f "$drive" "$tool" "dynatrain pl" "dynatrain plan --clus" \
        "dynatrain plan --cluster=h1" "dynatrain plan --cluster my-c" \
        "dynatrain plan -m deep" "dynatrain plan --ch" \
        "dynatrain plan -f myj" "dynatrain layout -o js" \
        "dynatrain completion fi")sh"),
            "dynatrain plan \n"
            "dynatrain plan --cluster=\n"
            "dynatrain plan --cluster=h100x16 \n"
            "dynatrain plan --cluster my-cluster.yaml \n"
            "dynatrain plan -m deepseek-v3 \n"
            "dynatrain plan --check \n"
            "dynatrain plan -f myjob.yaml \n"
            "dynatrain layout -o json \n"
            "dynatrain completion fish \n");
}

TEST(ProcessTest, FishCompletesInARealOne) {
  EXPECT_EQ(Bash(R"sh(
    tool=$PWD/tools/cli/dynatrain
    cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"; touch myjob.yaml
    export HOME=$PWD
    "$tool" completion fish > dynatrain.fish
    fish --no-config -c "source dynatrain.fish
      for line in \"dynatrain pl\" \"dynatrain plan --ch\" \
          \"dynatrain plan -m deep\" \"dynatrain plan --cluster h1\" \
          \"dynatrain plan -f my\" \"dynatrain layout -o js\"
        complete -C \$line
      end" | cut -f1)sh"),
            "plan\n--check\ndeepseek-v3\nh100x16\nmyjob.yaml\njson\n");
}

// `make install` of what was built.
TEST(ProcessTest, InstalledItIsKubectlsPluginAndShellsKnowIt) {
  const std::string text = Bash(R"sh(
    export DESTDIR=$(mktemp -d "$TEST_TMPDIR/XXXXXX") PREFIX=/opt/dt
    BINARY=tools/cli/dynatrain tools/setup/install > "$DESTDIR/said"
    cat "$DESTDIR/said" | sed "s|$DESTDIR||g"
    PATH=$DESTDIR/opt/dt/bin:$PATH
    dynatrain --version
    kubectl-dynatrain plan --help | grep Usage
    kubectl-dynatrain plan --help | grep -c "^  kubectl dynatrain plan -"
    kubectl_complete-dynatrain plan --che
    (cd "$DESTDIR/opt/dt/share" && find . -type f | sort)
    zsh -fc "fpath=($DESTDIR/opt/dt/share/zsh/site-functions); whence -v _dynatrain || { autoload -Uz _dynatrain; whence -w _dynatrain; }" | tail -1
  )sh");
  EXPECT_EQ(text,
            "installed /opt/dt/bin/dynatrain, kubectl-dynatrain beside it, and "
            "completions under /opt/dt/share\n"
            "dynatrain 0.1.0\n"
            "Usage: kubectl dynatrain plan [OPTIONS]\n"
            "4\n"
            "--check\n:4\n"
            "./bash-completion/completions/dynatrain\n"
            "./fish/vendor_completions.d/dynatrain.fish\n"
            "./zsh/site-functions/_dynatrain\n"
            "_dynatrain: function\n");
}

}  // namespace
}  // namespace dynatrain::cli
