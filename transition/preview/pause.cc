#include "transition/preview/pause.h"

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "transition/schedule/check_range.h"
#include "transition/schedule/cluster_model.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;
constexpr int64_t kMinBytesPerSecond = 1'000'000;
constexpr int64_t kMaxBytesPerSecond = 1'000'000'000'000'000;

CostTerm AtSpeed(const char* part, int64_t bytes, int64_t bytes_per_second) {
  const bool giga = bytes >= 1'000'000'000;
  return {absl::StrFormat("%s (%.4g %s / %.4g GB/s)", part,
                          bytes / (giga ? 1e9 : 1e6), giga ? "GB" : "MB",
                          bytes_per_second / 1e9),
          TransferNs(bytes, bytes_per_second)};
}

}  // namespace

absl::Status CheckPauseFigures(const PauseFigures& figures) {
  const auto check = [](const char* field, int64_t value, int64_t min,
                        int64_t max) {
    return CheckRange("pause", field, value, min, max);
  };
  RETURN_IF_ERROR(check("drain_ns", figures.drain_ns, 0, kHourNs));
  RETURN_IF_ERROR(check("copy_bytes_per_second", figures.copy_bytes_per_second,
                        kMinBytesPerSecond, kMaxBytesPerSecond));
  RETURN_IF_ERROR(check("verify_bytes_per_second",
                        figures.verify_bytes_per_second, kMinBytesPerSecond,
                        kMaxBytesPerSecond));
  return check("commit_ns", figures.commit_ns, 0, kHourNs);
}

Cost PauseOf(const PauseWork& work, const PauseFigures& figures) {
  Cost pause = {
      "pause",
      {{"drain", figures.drain_ns},
       AtSpeed("copy", work.copied_bytes, figures.copy_bytes_per_second),
       {"transfer", work.transfer_ns}}};
  if (work.gathered_bytes > 0) {
    pause.terms.push_back(
        AtSpeed("gather", work.gathered_bytes, work.gather_bytes_per_second));
  }
  pause.terms.push_back(
      AtSpeed("verify", work.verified_bytes, figures.verify_bytes_per_second));
  pause.terms.push_back({"commit", figures.commit_ns});
  return pause;
}

}  // namespace dynatrain::transition
