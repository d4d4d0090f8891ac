// Traffic: how many bytes each rank sends to each other one. A schedule, its
// bounds and its costs depend on nothing else of a plan, so they are made from
// this. What stays on a rank is no traffic.
//
//   ASSIGN_OR_RETURN(Traffic traffic,
//                    Traffic::Create(3, {{0, 1, 4096}, {2, 1, 512}}));
#ifndef TRANSITION_SCHEDULE_TRAFFIC_H_
#define TRANSITION_SCHEDULE_TRAFFIC_H_

#include <compare>
#include <cstdint>
#include <ostream>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dynatrain::transition {

// Of all flows together, so that sums of times in the models don't overflow.
inline constexpr int64_t kMaxTrafficBytes = int64_t{1} << 52;

struct Flow {
  int sender = 0;
  int receiver = 0;
  int64_t bytes = 0;

  // By sender, then receiver.
  friend auto operator<=>(const Flow&, const Flow&) = default;
  friend bool operator==(const Flow&, const Flow&) = default;
};

class Traffic {
 public:
  // Flows in any order. Returns kInvalidArgument naming the flow if a rank is
  // not in [0, num_ranks), one sends to itself, a pair is there twice, or bytes
  // are not positive; kOutOfRange if all together exceed kMaxTrafficBytes.
  static absl::StatusOr<Traffic> Create(int num_ranks, std::vector<Flow> flows);

  int num_ranks() const { return num_ranks_; }
  // Ascending.
  absl::Span<const Flow> flows() const { return flows_; }
  int64_t total_bytes() const { return total_bytes_; }

  // The flows that `keep` accepts.
  Traffic Filter(absl::FunctionRef<bool(const Flow&)> keep) const;

  friend bool operator==(const Traffic&, const Traffic&) = default;

 private:
  Traffic(int num_ranks, std::vector<Flow> flows);

  int num_ranks_ = 0;
  std::vector<Flow> flows_;
  int64_t total_bytes_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Flow& flow) {
  return out << flow.bytes << " B from rank " << flow.sender << " to rank "
             << flow.receiver;
}

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_TRAFFIC_H_
