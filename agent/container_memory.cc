#include "agent/container_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace dynatrain::agent {
namespace {

// v1 says "no limit" as the highest multiple of the page size; no machine has
// as much as this.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

std::optional<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<uint64_t> ReadNumber(const std::string& path) {
  const std::optional<std::string> text = ReadText(path);
  uint64_t value = 0;
  if (!text || !absl::SimpleAtoi(*text, &value)) return std::nullopt;
  return value;
}

// The value after `name` in a file of "name value" lines.
uint64_t ReadField(const std::string& path, absl::string_view name) {
  const std::string text = ReadText(path).value_or("");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    uint64_t value = 0;
    if (absl::ConsumePrefix(&line, name) && absl::ConsumePrefix(&line, " ") &&
        absl::SimpleAtoi(line, &value)) {
      return value;
    }
  }
  return 0;
}

// The group's path in the hierarchy of `controller` ("" for v2).
std::string GroupPath(const std::string& membership,
                      absl::string_view controller) {
  for (absl::string_view line : absl::StrSplit(membership, '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    for (absl::string_view name : absl::StrSplit(parts[1], ',')) {
      if (name == controller) return std::string(parts[2]);
    }
  }
  return "";
}

struct Files {
  const char* limit;
  const char* used;
  const char* inactive;  // field of memory.stat
};

constexpr Files kV2 = {"/memory.max", "/memory.current", "inactive_file"};
constexpr Files kV1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                       "total_inactive_file"};

std::optional<ContainerMemory> Read(const std::string& folder,
                                    const Files& files) {
  const std::optional<uint64_t> used =
      ReadNumber(absl::StrCat(folder, files.used));
  if (!used) return std::nullopt;
  const uint64_t inactive =
      ReadField(absl::StrCat(folder, "/memory.stat"), files.inactive);
  // "max" in v2 is no number.
  const uint64_t limit =
      ReadNumber(absl::StrCat(folder, files.limit)).value_or(0);
  return ContainerMemory{limit < kNoLimit ? limit : 0,
                         *used - std::min(*used, inactive)};
}

}  // namespace

ContainerMemory ReadContainerMemory(const std::string& root,
                                    const std::string& membership) {
  const std::string v1_root = absl::StrCat(root, "/memory");
  const std::vector<std::pair<std::string, Files>> places = {
      {absl::StrCat(root, GroupPath(membership, "")), kV2},
      {root, kV2},
      {absl::StrCat(v1_root, GroupPath(membership, "memory")), kV1},
      {v1_root, kV1}};
  for (const auto& [folder, files] : places) {
    if (auto memory = Read(folder, files)) return *memory;
  }
  return {};
}

ContainerMemory ReadContainerMemory() {
  return ReadContainerMemory("/sys/fs/cgroup",
                             ReadText("/proc/self/cgroup").value_or(""));
}

}  // namespace dynatrain::agent
