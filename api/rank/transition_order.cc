#include "api/rank/transition_order.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/json/reader.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

// A day: a wait inside the pause that is longer is a mistake.
constexpr int64_t kMaxDeadlineMs = int64_t{24} * 3600 * 1000;

// ObjectReader's integers are signed; ids use all 64 bits.
uint64_t Unsigned(ObjectReader& reader, absl::string_view key) {
  const nlohmann::json& value = reader.At(key);
  if (value.is_number_integer() &&
      (value.is_number_unsigned() || value.get<int64_t>() >= 0)) {
    return value.get<uint64_t>();
  }
  reader.Refuse(key, "is not an integer >= 0");
  return 0;
}

absl::StatusOr<MemberOrder> ReadMember(ObjectReader& reader) {
  MemberOrder member;
  if (!reader.Has("serial")) reader.Refuse("serial", "must be given");
  member.serial = static_cast<uint32_t>(reader.Int("serial", 0, UINT32_MAX, 0));
  member.node = static_cast<uint32_t>(reader.Int("node", 0, UINT32_MAX, 0));
  for (ObjectReader& rank : reader.List("ranks")) {
    RankOrder order{Unsigned(rank, "process_id"), rank.Text("data_address")};
    if (order.process_id == 0) rank.Refuse("process_id", "must not be 0");
    RETURN_IF_ERROR(rank.status());
    member.ranks.push_back(std::move(order));
  }
  RETURN_IF_ERROR(reader.status());
  return member;
}

absl::StatusOr<WorldOrder> ReadWorld(ObjectReader reader) {
  WorldOrder world;
  if (reader.Has("generation")) {
    world.generation = Unsigned(reader, "generation");
  }
  world.layout = reader.Text("layout");
  std::set<uint64_t> ids;
  for (ObjectReader& member : reader.List("members")) {
    ASSIGN_OR_RETURN(MemberOrder order, ReadMember(member));
    for (const RankOrder& rank : order.ranks) {
      if (ids.insert(rank.process_id).second) continue;
      member.Refuse("ranks", absl::StrCat("have process ", rank.process_id,
                                          ", which has a rank already"));
    }
    RETURN_IF_ERROR(member.status());
    world.members.push_back(std::move(order));
  }
  if (ids.empty() && !world.layout.empty()) {
    reader.Refuse("layout", "must be empty in a world without members");
  }
  if (!ids.empty() && world.layout.empty()) {
    reader.Refuse("layout", "must be given");
  }
  RETURN_IF_ERROR(reader.status());
  return world;
}

}  // namespace

int WorldOrder::num_ranks() const {
  size_t n = 0;
  for (const MemberOrder& member : members) n += member.ranks.size();
  return static_cast<int>(n);
}

absl::StatusOr<TransitionOrder> ReadTransitionOrder(
    const nlohmann::json& json) {
  ObjectReader reader(json, "transition");
  TransitionOrder order;
  order.id = reader.Text("id");
  order.generation = Unsigned(reader, "generation");
  order.manifest = reader.Text("manifest");
  ObjectReader options = reader.Object("options");
  order.transfer_deadline = std::chrono::milliseconds(
      options.Int("transfer_deadline_ms", 1, kMaxDeadlineMs,
                  order.transfer_deadline.count()));
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(options.status());
  ASSIGN_OR_RETURN(order.source, ReadWorld(reader.Object("source")));
  ASSIGN_OR_RETURN(order.target, ReadWorld(reader.Object("target")));
  if (order.target.members.empty()) {
    return absl::InvalidArgumentError(
        "transition.target: a world without members");
  }
  if (order.target.generation != order.generation) {
    return absl::InvalidArgumentError(
        absl::StrCat("transition.target.generation: ", order.target.generation,
                     " is not the transition's, ", order.generation));
  }
  return order;
}

}  // namespace dynatrain::api
