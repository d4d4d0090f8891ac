#include "agent/config.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

constexpr int kMaxRanks = 1024;
constexpr size_t kMinKeyDigits = 16;
constexpr size_t kMaxSocketPath = sizeof(sockaddr_un::sun_path) - 1;

absl::Status Invalid(absl::string_view name, absl::string_view value,
                     absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(
      "environment variable ", name, " is '", value, "', want ", wanted));
}

class Reader {
 public:
  explicit Reader(const AgentConfig::Environment& environment)
      : environment_(environment) {}

  absl::StatusOr<std::string> Text(absl::string_view name) const {
    std::optional<std::string> value = environment_(name);
    if (value && !value->empty()) return *std::move(value);
    return absl::InvalidArgumentError(
        absl::StrCat("environment variable ", name,
                     " is not set; the operator sets it in the pod"));
  }

  std::string TextOr(absl::string_view name, std::string fallback) const {
    std::optional<std::string> value = environment_(name);
    return value && !value->empty() ? *std::move(value) : std::move(fallback);
  }

  absl::StatusOr<int64_t> Number(absl::string_view name, int64_t least,
                                 int64_t most) const {
    ASSIGN_OR_RETURN(const std::string text, Text(name));
    int64_t value = 0;
    if (absl::SimpleAtoi(text, &value) && value >= least && value <= most) {
      return value;
    }
    return Invalid(name, text,
                   absl::StrCat("a number from ", least, " to ", most));
  }

  absl::StatusOr<int64_t> NumberOr(absl::string_view name, int64_t fallback,
                                   int64_t least, int64_t most) const {
    if (TextOr(name, "").empty()) return fallback;
    return Number(name, least, most);
  }

 private:
  const AgentConfig::Environment& environment_;
};

bool IsIpAddress(const std::string& text) {
  unsigned char parsed[16];
  return inet_pton(AF_INET, text.c_str(), parsed) == 1 ||
         inet_pton(AF_INET6, text.c_str(), parsed) == 1;
}

absl::Status CheckKey(const std::string& key) {
  const bool hex = std::all_of(key.begin(), key.end(), absl::ascii_isxdigit);
  if (hex && key.size() >= kMinKeyDigits) return absl::OkStatus();
  // Never the value: this goes to the log.
  return absl::InvalidArgumentError(absl::StrCat(
      "environment variable DYNATRAIN_KEY has ", key.size(),
      hex ? "" : " characters, not all hexadecimal", " digits, want at least ",
      kMinKeyDigits, " hexadecimal digits"));
}

}  // namespace

absl::StatusOr<AgentConfig> AgentConfig::Create(const Environment& environment,
                                                const std::string& home) {
  const Reader reader(environment);
  AgentConfig config;
  config.home = home;
  ASSIGN_OR_RETURN(config.job, reader.Text("DYNATRAIN_JOB"));
  ASSIGN_OR_RETURN(config.job_namespace, reader.Text("DYNATRAIN_NAMESPACE"));
  ASSIGN_OR_RETURN(config.job_uid, reader.Text("DYNATRAIN_JOB_UID"));
  ASSIGN_OR_RETURN(config.serial,
                   reader.Number("DYNATRAIN_SERIAL", 0, UINT32_MAX));
  ASSIGN_OR_RETURN(config.ranks_per_replica,
                   reader.Number("DYNATRAIN_RANKS_PER_REPLICA", 1, kMaxRanks));
  ASSIGN_OR_RETURN(config.pod_ip, reader.Text("DYNATRAIN_POD_IP"));
  if (!IsIpAddress(config.pod_ip)) {
    return Invalid("DYNATRAIN_POD_IP", config.pod_ip, "an IP address");
  }
  ASSIGN_OR_RETURN(config.key, reader.Text("DYNATRAIN_KEY"));
  RETURN_IF_ERROR(CheckKey(config.key));
  ASSIGN_OR_RETURN(config.port, reader.NumberOr("DYNATRAIN_AGENT_PORT",
                                                config.port, 0, 65535));
  ASSIGN_OR_RETURN(
      const int64_t grace,
      reader.NumberOr("DYNATRAIN_GRACE_SECONDS", config.grace.count(), 0,
                      int64_t{7} * 24 * 3600));
  config.grace = std::chrono::seconds(grace);
  config.socket =
      reader.TextOr("DYNATRAIN_SOCKET", absl::StrCat(home, "/agent.sock"));
  if (config.socket.size() > kMaxSocketPath) {
    return Invalid(
        "DYNATRAIN_SOCKET", config.socket,
        absl::StrCat("a path of at most ", kMaxSocketPath, " characters"));
  }
  config.restart_text = reader.TextOr("DYNATRAIN_RESTART_TEXT", "");
  return config;
}

std::vector<std::string> RankEnvironment(const AgentConfig& config,
                                         int local_rank,
                                         const std::vector<std::string>& own) {
  std::map<std::string, std::string> values;
  for (const std::string& entry : own) {
    std::pair<std::string, std::string> pair =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    values.insert(std::move(pair));
  }
  values["DYNATRAIN_SOCKET"] = config.socket;
  values["DYNATRAIN_LOCAL_RANK"] = absl::StrCat(local_rank);
  values["DYNATRAIN_SERIAL"] = absl::StrCat(config.serial);
  values["DYNATRAIN_POD_IP"] = config.pod_ip;
  values["DYNATRAIN_KEY"] = config.key;
  std::string& path = values["PYTHONPATH"];
  path = absl::StrCat(config.home, "/python", path.empty() ? "" : ":", path);
  values.insert({"OMP_NUM_THREADS", "1"});
  std::vector<std::string> entries;
  for (const auto& [name, value] : values) {
    entries.push_back(absl::StrCat(name, "=", value));
  }
  return entries;
}

}  // namespace dynatrain::agent
