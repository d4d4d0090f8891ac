#include "transition/schedule/traffic.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::transition {
namespace {

std::string Name(const Flow& flow) {
  return absl::StrCat("the flow from rank ", flow.sender, " to rank ",
                      flow.receiver);
}

absl::Status CheckFlow(const Flow& flow, int num_ranks) {
  for (const int rank : {flow.sender, flow.receiver}) {
    if (rank < 0 || rank >= num_ranks) {
      return absl::InvalidArgumentError(absl::StrCat(Name(flow), " names rank ",
                                                     rank, "; ranks are 0 to ",
                                                     num_ranks - 1));
    }
  }
  if (flow.sender == flow.receiver) {
    return absl::InvalidArgumentError(absl::StrCat(
        Name(flow), " stays on its rank; only what moves is traffic"));
  }
  if (flow.bytes <= 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        Name(flow), " has ", flow.bytes, " bytes; it must have at least 1"));
  }
  return absl::OkStatus();
}

}  // namespace

Traffic::Traffic(int num_ranks, std::vector<Flow> flows)
    : num_ranks_(num_ranks), flows_(std::move(flows)) {
  for (const Flow& flow : flows_) total_bytes_ += flow.bytes;
}

absl::StatusOr<Traffic> Traffic::Create(int num_ranks,
                                        std::vector<Flow> flows) {
  if (num_ranks < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "traffic has ", num_ranks, " ranks; it must have at least 1"));
  }
  std::sort(flows.begin(), flows.end());
  int64_t left = kMaxTrafficBytes;
  for (size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows[i];
    RETURN_IF_ERROR(CheckFlow(flow, num_ranks));
    if (i > 0 && flows[i - 1].sender == flow.sender &&
        flows[i - 1].receiver == flow.receiver) {
      return absl::InvalidArgumentError(
          absl::StrCat(Name(flow), " is given twice"));
    }
    if (flow.bytes > left) {
      return absl::OutOfRangeError(absl::StrCat(
          "traffic is more than ", kMaxTrafficBytes, " bytes (2^52)"));
    }
    left -= flow.bytes;
  }
  return Traffic(num_ranks, std::move(flows));
}

Traffic Traffic::Filter(absl::FunctionRef<bool(const Flow&)> keep) const {
  std::vector<Flow> kept;
  std::copy_if(flows_.begin(), flows_.end(), std::back_inserter(kept), keep);
  return Traffic(num_ranks_, std::move(kept));
}

}  // namespace dynatrain::transition
