#include "transition/plan/plan_input.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/box.h"
#include "vps/layout/boxes.h"
#include "vps/layout/manifest.h"

namespace dynatrain::transition {
namespace {

// Positions on a line times senders have to fit 128 bits with room to spare.
constexpr int kMaxSendersLimit = 1024;

Fingerprint DigestOf(const World& source, const World& target,
                     const PlanOptions& options) {
  Fingerprinter digest;
  digest.Append("dynatrain plan").Append(kPlannerVersion);
  for (const World* world : {&source, &target}) {
    digest.Append(world->empty() ? Fingerprint() : world->layout().digest());
    digest.Append(world->size());
    for (const Process& process : world->processes()) {
      digest.Append(process.id).Append(process.member);
    }
  }
  digest.Append(options.min_sender_bytes).Append(options.max_senders);
  return digest.Finish();
}

// The rules of a tensor in both worlds.
using Rules = std::pair<int, int>;

Rules RulesOf(const World& source, const World& target, int tensor) {
  return {source.layout().held(tensor, 0).placement,
          target.layout().held(tensor, 0).placement};
}

// See PlanInput::class_of.
std::vector<int> ClassesOf(const World& source, const World& target) {
  const vps::Layout& layout = target.layout();
  std::vector<int> classes;
  classes.reserve(layout.num_tensors());
  absl::flat_hash_map<std::pair<Rules, vps::Box>, int> class_of_key;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    const auto [it, is_new] = class_of_key.try_emplace(
        {RulesOf(source, target, tensor), layout.tensor(tensor).whole()},
        static_cast<int>(class_of_key.size()));
    classes.push_back(it->second);
  }
  return classes;
}

// See LineSpan. Alike means the same rules.
std::vector<LineSpan> LineSpansOf(const World& source, const World& target) {
  const vps::Layout& layout = target.layout();
  std::vector<LineSpan> spans;
  spans.reserve(layout.num_tensors());
  absl::flat_hash_map<Rules, int64_t> line_of_rules;
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    int64_t& end = line_of_rules[RulesOf(source, target, tensor)];
    const int64_t begin = end;
    end += vps::LocalBox(layout, 0, tensor).num_elements() *
           layout.tensor(tensor).item_bytes();
    spans.push_back({.begin_bytes = begin, .end_bytes = end});
  }
  for (int tensor = 0; tensor < layout.num_tensors(); ++tensor) {
    spans[tensor].line_bytes = line_of_rules[RulesOf(source, target, tensor)];
  }
  return spans;
}

absl::Status CheckOptions(const PlanOptions& options) {
  if (options.min_sender_bytes < 1) {
    return absl::InvalidArgumentError(absl::StrCat("plan: min_sender_bytes is ",
                                                   options.min_sender_bytes,
                                                   "; at least 1"));
  }
  if (options.max_senders < 1 || options.max_senders > kMaxSendersLimit) {
    return absl::InvalidArgumentError(
        absl::StrCat("plan: max_senders is ", options.max_senders,
                     "; it lies in 1..", kMaxSendersLimit));
  }
  return absl::OkStatus();
}

vps::Manifest TensorsOf(const vps::Layout& layout) {
  std::vector<vps::ManifestTensor> tensors;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    tensors.push_back({layout.tensor(i), {}});
  }
  return *vps::Manifest::Create(std::move(tensors));
}

absl::Status CheckSameTensors(const vps::Layout& before,
                              const vps::Layout& after) {
  bool same = before.num_tensors() == after.num_tensors();
  for (int i = 0; same && i < after.num_tensors(); ++i) {
    same = before.tensor(i) == after.tensor(i);
  }
  if (same) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("source world (expected) and target world (actual) have "
                   "different tensors:\n",
                   vps::Difference(TensorsOf(before), TensorsOf(after))));
}

}  // namespace

PlanInput::PlanInput(std::shared_ptr<const Body> body)
    : body_(std::move(body)) {}

absl::StatusOr<PlanInput> PlanInput::Create(World source, World target,
                                            PlanOptions options) {
  if (target.empty()) {
    return absl::InvalidArgumentError("plan: the target world is empty");
  }
  RETURN_IF_ERROR(CheckOptions(options));
  RETURN_IF_ERROR(vps::CheckMadeOfBoxes(target.layout()), "the target world");
  if (!source.empty()) {
    RETURN_IF_ERROR(CheckSameTensors(source.layout(), target.layout()));
    RETURN_IF_ERROR(vps::CheckMadeOfBoxes(source.layout()), "the source world");
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
  if (!source.empty()) {
    body->class_of_tensor = ClassesOf(source, target);
    for (int c : body->class_of_tensor) {
      body->num_classes = std::max(body->num_classes, c + 1);
    }
    body->line_spans = LineSpansOf(source, target);
  }
  body->digest = DigestOf(source, target, options);
  body->source = std::move(source);
  body->target = std::move(target);
  body->options = options;
  return PlanInput(std::move(body));
}

}  // namespace dynatrain::transition
