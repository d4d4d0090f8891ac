#include "agent/runtime/session_config.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::runtime {
namespace {

constexpr int64_t kMaxStagingBytes = int64_t{1} << 40;
constexpr int kMaxLocalRank = 1 << 16;

absl::StatusOr<std::string> FromHex(const std::string& hex) {
  const bool valid = !hex.empty() && hex.size() % 2 == 0 &&
                     std::all_of(hex.begin(), hex.end(), absl::ascii_isxdigit);
  // The key itself must not get into logs.
  if (!valid) {
    return absl::InvalidArgumentError(
        "key (DYNATRAIN_KEY) must be an even number of hex digits");
  }
  return absl::HexStringToBytes(hex);
}

}  // namespace

absl::StatusOr<SessionConfig> SessionConfig::Create(
    absl::string_view json, const Environment& environment) {
  ASSIGN_OR_RETURN(const nlohmann::json parsed,
                   api::ParseJson(json.empty() ? "{}" : json), "config");
  api::ObjectReader reader(parsed, "config");
  const auto text = [&](const char* entry, const char* variable) {
    return reader.Has(entry) ? reader.Text(entry)
                             : environment(variable).value_or("");
  };
  SessionConfig config;
  config.socket = text("socket", "DYNATRAIN_SOCKET");
  config.pod_ip = text("pod_ip", "DYNATRAIN_POD_IP");
  const std::string key = text("key", "DYNATRAIN_KEY");
  config.local_rank =
      static_cast<int>(reader.Int("local_rank", 0, kMaxLocalRank, -1));
  config.staging.total_bytes =
      reader.Int("staging_bytes", 1, kMaxStagingBytes,
                 static_cast<int64_t>(transition::StagingBudget().total_bytes));
  RETURN_IF_ERROR(reader.status());
  if (config.socket.empty()) {
    return absl::InvalidArgumentError(
        "DYNATRAIN_SOCKET isn't set: is this process started by "
        "dynatrain-agent?");
  }
  if (config.local_rank < 0) {
    const std::string rank = environment("DYNATRAIN_LOCAL_RANK").value_or("");
    if (!absl::SimpleAtoi(rank, &config.local_rank) || config.local_rank < 0 ||
        config.local_rank > kMaxLocalRank) {
      return absl::InvalidArgumentError(absl::StrCat(
          "DYNATRAIN_LOCAL_RANK is \"", rank, "\", no number from 0 on"));
    }
  }
  if (config.pod_ip.empty()) {
    return absl::InvalidArgumentError("DYNATRAIN_POD_IP isn't set");
  }
  ASSIGN_OR_RETURN(config.key, FromHex(key));
  return config;
}

}  // namespace dynatrain::runtime
