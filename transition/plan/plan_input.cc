#include "transition/plan/plan_input.h"

#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::transition {
namespace {

Fingerprint DigestOf(const World& source, const World& target,
                     const PlanOptions& options) {
  Fingerprinter digest;
  digest.Append("dynatrain plan").Append(kPlannerVersion);
  digest.Append(target.layout().manifest().digest());
  for (const World* world : {&source, &target}) {
    digest.Append(world->empty() ? "" : world->layout().mesh().DebugString());
    digest.Append(world->size());
    for (const Process& process : world->processes()) {
      digest.Append(process.id).Append(process.member);
    }
  }
  digest.Append(options.stripe_bytes);
  return digest.Finish();
}

// See PlanInput::line_offset_bytes. Alike means the same rule in both worlds.
std::vector<int64_t> LineOffsets(const World& source, const World& target) {
  if (source.empty()) return {};
  const vps::Manifest& manifest = target.layout().manifest();
  std::vector<int64_t> offsets;
  offsets.reserve(manifest.size());
  std::map<std::pair<int, int>, int64_t> line_of_rules;
  for (int tensor = 0; tensor < manifest.size(); ++tensor) {
    int64_t& line = line_of_rules[{source.layout().rule_index(tensor),
                                   target.layout().rule_index(tensor)}];
    offsets.push_back(line);
    // Rank 0's piece is the largest: the chunk rule shortens only later ones.
    line += target.layout().LocalBox(0, tensor).num_elements() *
            manifest.tensor(tensor).spec.item_bytes();
  }
  return offsets;
}

absl::Status CheckSameManifest(const World& source, const World& target) {
  const vps::Manifest& before = source.layout().manifest();
  const vps::Manifest& after = target.layout().manifest();
  if (before.digest() == after.digest()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("source world (expected) and target world (actual) have "
                   "different tensors:\n",
                   Difference(before, after)));
}

}  // namespace

PlanInput::PlanInput(std::shared_ptr<const Body> body)
    : body_(std::move(body)) {}

absl::StatusOr<PlanInput> PlanInput::Create(World source, World target,
                                            PlanOptions options) {
  if (target.empty()) {
    return absl::InvalidArgumentError("plan: the target world is empty");
  }
  if (options.stripe_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "plan: stripe_bytes is ", options.stripe_bytes, "; at least 1"));
  }
  if (!source.empty()) {
    if (absl::Status status = CheckSameManifest(source, target); !status.ok()) {
      return status;
    }
  }
  auto body = std::make_shared<Body>();
  body->target_rank_of_source.assign(source.size(), -1);
  for (int rank = 0; rank < target.size(); ++rank) {
    const auto source_rank = source.RankOf(target.process(rank).id);
    if (source_rank.has_value()) {
      body->target_rank_of_source[*source_rank] = rank;
      body->union_index_of_target.push_back(*source_rank);
    } else {
      body->union_index_of_target.push_back(source.size() +
                                            body->num_joining_processes++);
    }
  }
  body->line_offset_bytes = LineOffsets(source, target);
  body->digest = DigestOf(source, target, options);
  body->source = std::move(source);
  body->target = std::move(target);
  body->options = options;
  return PlanInput(std::move(body));
}

}  // namespace dynatrain::transition
