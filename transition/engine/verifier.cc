#include "transition/engine/verifier.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

// A step between two looks at the links: some 50 us.
constexpr int64_t kStepBytes = 256 << 10;

}  // namespace

size_t Verifier::Add(const Route& route, const RegionMemory* target) {
  checks_.push_back({.route = route, .target = target});
  return checks_.size() - 1;
}

bool Verifier::Step() {
  if (ready_.empty()) return false;
  Check& check = checks_[ready_.front()];
  const int64_t count =
      std::min(check.target->digest.num_elements() - check.num_elements,
               kStepBytes / check.target->item_bytes());
  check.digest += check.target->Digest(check.num_elements, count);
  check.num_elements += count;
  if (check.num_elements == check.target->digest.num_elements()) {
    ready_.pop_front();
    ++num_digested_;
  }
  return true;
}

absl::Status Verifier::Compare() const {
  const Check* first = nullptr;
  size_t num_different = 0;
  for (const Check& check : checks_) {
    if (check.expected == check.digest) continue;
    if (first == nullptr) first = &check;
    ++num_different;
  }
  if (first == nullptr) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      first->route.DebugString(input_),
      ": what lies in the target tensor is not what lay in the source (digest ",
      absl::Hex(first->digest, absl::kZeroPad16), " instead of ",
      absl::Hex(first->expected.value_or(0), absl::kZeroPad16), ")",
      num_different == 1
          ? ""
          : absl::StrCat(", and so for ", num_different - 1, " more routes")));
}

}  // namespace dynatrain::transition
