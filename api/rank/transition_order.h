// The "transition" of a `prepare` frame as a value: what a rank process is told
// to prepare. docs/design/0001 has the fields.
#ifndef API_RANK_TRANSITION_ORDER_H_
#define API_RANK_TRANSITION_ORDER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

struct RankOrder {
  uint64_t process_id = 0;
  std::string data_address;  // "ip:port"
  friend bool operator==(const RankOrder&, const RankOrder&) = default;
};

struct MemberOrder {
  uint32_t serial = 0;
  std::vector<RankOrder> ranks;
  uint32_t node = 0;  // equal in both worlds for members on one; 0: not known
  friend bool operator==(const MemberOrder&, const MemberOrder&) = default;
};

// A rank is the position in the concatenation of members[i].ranks.
struct WorldOrder {
  uint64_t generation = 0;
  std::string layout;  // "dp2,tp2,pp1"; "" for generation 0
  std::vector<MemberOrder> members;

  int num_ranks() const;
  friend bool operator==(const WorldOrder&, const WorldOrder&) = default;
};

struct TransitionOrder {
  std::string id;
  uint64_t generation = 0;
  WorldOrder source;  // no members in the first start
  WorldOrder target;
  std::string manifest;  // JSON text; "" in the first start
  // For waits inside the pause.
  std::chrono::milliseconds transfer_deadline{60'000};

  friend bool operator==(const TransitionOrder&,
                         const TransitionOrder&) = default;
};

// Returns kInvalidArgument naming the field if one is missing, of another type
// or range, or if the parts contradict each other: the target's generation
// isn't the transition's, a source without members has a layout, a process is
// in two places of a world.
absl::StatusOr<TransitionOrder> ReadTransitionOrder(const nlohmann::json& json);

}  // namespace dynatrain::api

#endif  // API_RANK_TRANSITION_ORDER_H_
