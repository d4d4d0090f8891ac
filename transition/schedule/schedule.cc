#include "transition/schedule/schedule.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

std::string Name(const Parcel& parcel) {
  return absl::StrCat("the parcel of ", parcel.bytes, " bytes at ",
                      parcel.offset_bytes, " from rank ", parcel.sender,
                      " to rank ", parcel.receiver);
}

}  // namespace

absl::Span<const Parcel> Schedule::window(int window) const {
  const size_t begin = window_begins[window];
  const size_t end = window + 1 < num_windows()
                         ? static_cast<size_t>(window_begins[window + 1])
                         : parcels.size();
  return absl::MakeConstSpan(parcels).subspan(begin, end - begin);
}

void Schedule::AddWindow(absl::Span<const Parcel> window) {
  window_begins.push_back(static_cast<int64_t>(parcels.size()));
  parcels.insert(parcels.end(), window.begin(), window.end());
}

Fingerprint Schedule::Digest() const {
  Fingerprinter digest;
  digest.Append("schedule").Append(parcels.size());
  for (const Parcel& parcel : parcels) {
    digest.Append(parcel.sender)
        .Append(parcel.receiver)
        .Append(parcel.offset_bytes)
        .Append(parcel.bytes)
        .Append(parcel.stream);
  }
  for (int64_t begin : window_begins) digest.Append(begin);
  return digest.Finish();
}

absl::Status CheckMoves(const Schedule& schedule, const Traffic& traffic) {
  const absl::Span<const Flow> flows = traffic.flows();
  std::vector<int64_t> moved(flows.size());
  for (const Parcel& parcel : schedule.parcels) {
    const auto flow = std::lower_bound(flows.begin(), flows.end(),
                                       Flow{parcel.sender, parcel.receiver, 0});
    const bool known = flow != flows.end() && flow->sender == parcel.sender &&
                       flow->receiver == parcel.receiver && parcel.stream == 0;
    if (!known) {
      return absl::FailedPreconditionError(
          absl::StrCat(Name(parcel), " belongs to no flow"));
    }
    int64_t& done = moved[flow - flows.begin()];
    if (parcel.offset_bytes != done || parcel.bytes <= 0 ||
        parcel.bytes > flow->bytes - done) {
      return absl::FailedPreconditionError(
          absl::StrCat(Name(parcel), " comes when ", done, " of ", flow->bytes,
                       " bytes of its flow have gone"));
    }
    done += parcel.bytes;
  }
  for (size_t i = 0; i < flows.size(); ++i) {
    if (moved[i] == flows[i].bytes) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("of ", flows[i].bytes, " bytes from rank ",
                     flows[i].sender, " to rank ", flows[i].receiver, " only ",
                     moved[i], " are in the schedule"));
  }
  return absl::OkStatus();
}

int MaxWindowOperations(const Schedule& schedule, int num_ranks) {
  std::vector<int> operations(num_ranks);
  int max = 0;
  for (int window = 0; window < schedule.num_windows(); ++window) {
    for (const Parcel& parcel : schedule.window(window)) {
      max = std::max(max, ++operations[parcel.sender]);
      max = std::max(max, ++operations[parcel.receiver]);
    }
    for (const Parcel& parcel : schedule.window(window)) {
      operations[parcel.sender] = operations[parcel.receiver] = 0;
    }
  }
  return max;
}

}  // namespace dynatrain::transition
