#include "transition/plan/world.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

std::optional<uint32_t> Known(uint32_t number) {
  if (number == 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<uint32_t> GroupOf(const Process& process, Tier tier) {
  switch (tier) {
    case Tier::kDevice:
      return Known(process.device);
    case Tier::kMember:
      return process.member;
    case Tier::kNode:
      return Known(process.node);
    case Tier::kRail:
      return Known(process.rail);
    case Tier::kAnywhere:
      return 0;
  }
  return std::nullopt;
}

absl::StatusOr<World> World::Create(vps::Layout layout,
                                    std::vector<Process> processes) {
  if (static_cast<int>(processes.size()) != layout.world_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "world has ", processes.size(), " processes; layout ",
        layout.meshes()[0].DebugString(), " needs ", layout.world_size()));
  }
  auto body = std::make_shared<Body>(
      Body{std::move(layout), std::move(processes), {}, {}});
  for (int rank = 0; rank < static_cast<int>(body->processes.size()); ++rank) {
    const Process& process = body->processes[rank];
    if (process.id == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("process of rank ", rank, " has id 0"));
    }
    const auto [it, is_new] =
        body->rank_of_process.try_emplace(process.id, rank);
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("ranks ", it->second, " and ", rank,
                       " are the same process ", process.id));
    }
    for (const Tier tier : kTiers) {
      const std::optional<uint32_t> group = GroupOf(process, tier);
      if (tier == Tier::kAnywhere || !group.has_value()) continue;
      body->ranks_of_group[static_cast<size_t>(tier)][*group].push_back(rank);
    }
  }
  World world;
  world.body_ = std::move(body);
  return world;
}

std::optional<int> World::RankOf(uint64_t process_id) const {
  if (empty()) return std::nullopt;
  const auto it = body_->rank_of_process.find(process_id);
  if (it == body_->rank_of_process.end()) return std::nullopt;
  return it->second;
}

absl::Span<const int> World::RanksIn(Tier tier, uint32_t group) const {
  if (empty()) return {};
  const auto& groups = body_->ranks_of_group[static_cast<size_t>(tier)];
  const auto it = groups.find(group);
  if (it == groups.end()) return {};
  return it->second;
}

}  // namespace dynatrain::transition
