#include "transition/plan/plan_input.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/geometry/box.h"
#include "vps/layout/manifest.h"

namespace dynatrain::transition {
namespace {

// Positions on a line times senders have to fit 128 bits with room to spare.
constexpr int kMaxSendersLimit = 1024;

// Tensors of a class that isn't worth remembering.
constexpr int kSmallClass = 8;

Fingerprint RanksOf(const World& world) {
  Fingerprinter digest;
  digest.Append("ranks").Append(world.size());
  for (const Process& process : world.processes()) {
    digest.Append(process.id).Append(process.member);
    digest.Append(process.device).Append(process.node).Append(process.rail);
  }
  return digest.Finish();
}

Agreement AgreementOf(const World& source, const World& target,
                      const PlanOptions& options) {
  Agreement agreement;
  agreement.Set(AgreedPart::kPlanner, Fingerprinter()
                                          .Append("dynatrain plan")
                                          .Append(kPlannerVersion)
                                          .Finish());
  agreement.Set(AgreedPart::kTensors, target.layout().tensors_digest());
  if (!source.empty()) {
    agreement.Set(AgreedPart::kSourceLayout, source.layout().digest());
    agreement.Set(AgreedPart::kSourceRanks, RanksOf(source));
  }
  agreement.Set(AgreedPart::kTargetLayout, target.layout().digest());
  agreement.Set(AgreedPart::kTargetRanks, RanksOf(target));
  agreement.Set(AgreedPart::kOptions, Fingerprinter()
                                          .Append("options")
                                          .Append(options.min_sender_bytes)
                                          .Append(options.max_senders)
                                          .Finish());
  return agreement;
}

// How a tensor is placed, in numbers: equal exactly if it is alike.
using Key = std::vector<int64_t>;

// Gives equal keys (up to chance) one number, counted from 0.
class Numbering {
 public:
  int NumberOf(const Key& key, size_t size) {
    const Fingerprint print =
        FingerprintOf(key.data(), size * sizeof(Key::value_type));
    return numbers_.try_emplace(print, static_cast<int>(numbers_.size()))
        .first->second;
  }

 private:
  absl::flat_hash_map<Fingerprint, int> numbers_;
};

void AppendPlaces(const vps::Layout& layout, int tensor, Key& key) {
  key.push_back(layout.num_copies(tensor));
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    const vps::Held& held = layout.held(tensor, copy);
    key.push_back(held.placement);
    key.insert(key.end(), held.at.begin(), held.at.end());
  }
}

void AppendShapeAndFlat(const vps::Layout& layout, int tensor, Key& key) {
  const absl::Span<const int64_t> shape = layout.tensor(tensor).shape();
  key.push_back(shape.size());
  key.insert(key.end(), shape.begin(), shape.end());
  for (int copy = 0; copy < layout.num_copies(tensor); ++copy) {
    const vps::Held& held = layout.held(tensor, copy);
    key.push_back(held.flat.position);
    key.push_back(held.flat.shard);
    key.push_back(held.listed);
    for (const vps::Lane& lane : held.lanes) {
      key.push_back(lane.flat.position);
      key.push_back(lane.flat.shard);
    }
  }
}

// Which tensors are alike. A class is finer than a line, so what is true of a
// line, and what depends on shapes alone, is worked out once per class.
struct Kinds {
  std::vector<int> class_of_tensor;
  std::vector<int> size_of_class;
  std::vector<int> line_of_class;
  int num_lines = 0;
};

Kinds KindsOf(const PlanInput& input) {
  const auto append = [&](int tensor, auto what, Key& key) {
    what(input.source().layout(), input.SourceTensor(tensor), key);
    what(input.target().layout(), tensor, key);
  };
  Kinds kinds;
  kinds.class_of_tensor.reserve(input.num_tensors());
  Numbering classes, lines;
  Key key;
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    key.clear();
    append(tensor, AppendPlaces, key);
    const size_t place_size = key.size();
    append(tensor, AppendShapeAndFlat, key);
    const int kind = classes.NumberOf(key, key.size());
    kinds.class_of_tensor.push_back(kind);
    if (kind == static_cast<int>(kinds.line_of_class.size())) {
      kinds.line_of_class.push_back(lines.NumberOf(key, place_size));
      kinds.size_of_class.push_back(0);
      kinds.num_lines =
          std::max(kinds.num_lines, kinds.line_of_class.back() + 1);
    }
    ++kinds.size_of_class[kind];
  }
  return kinds;
}

// Of the first rank's part; of a flattened tensor, of all.
int64_t LineElements(const vps::Layout& layout, int tensor) {
  if (layout.placement(tensor, 0).flat.has_value()) {
    return layout.tensor(tensor).whole().num_elements();
  }
  const std::optional<vps::LocalShape> shape =
      layout.LocalShapeOf(layout.FirstRank(tensor, 0), tensor, 0);
  int64_t elements = 1;
  for (int64_t extent : *shape) elements *= extent;
  return elements;
}

std::vector<LineSpan> LineSpansOf(const PlanInput& input, const Kinds& kinds) {
  const vps::Layout& target = input.target().layout();
  std::vector<int64_t> elements_of_class;
  std::vector<int64_t> ends(kinds.num_lines);
  std::vector<LineSpan> spans;
  spans.reserve(input.num_tensors());
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    const int kind = kinds.class_of_tensor[tensor];
    if (kind == static_cast<int>(elements_of_class.size())) {
      elements_of_class.push_back(LineElements(target, tensor));
    }
    int64_t& end = ends[kinds.line_of_class[kind]];
    const int64_t begin = end;
    end += elements_of_class[kind] * target.tensor(tensor).item_bytes();
    spans.push_back({.begin_bytes = begin, .end_bytes = end});
  }
  for (int tensor = 0; tensor < input.num_tensors(); ++tensor) {
    spans[tensor].line_bytes =
        ends[kinds.line_of_class[kinds.class_of_tensor[tensor]]];
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

// Up to padding.
bool SameTensor(const vps::TensorSpec& a, const vps::TensorSpec& b) {
  if (a == b) return true;
  return a.name() == b.name() && a.state() == b.state() &&
         a.dtype() == b.dtype() && a.pad_from().has_value() &&
         a.pad_from() == b.pad_from() &&
         a.shape().subspan(1) == b.shape().subspan(1);
}

vps::Manifest TensorsOf(const vps::Layout& layout) {
  std::vector<vps::ManifestTensor> tensors;
  for (int i = 0; i < layout.num_tensors(); ++i) {
    tensors.push_back({layout.tensor(i), {}});
  }
  return *vps::Manifest::Create(std::move(tensors));
}

// The index in `source` of each tensor of `target`; empty if all are the same.
absl::StatusOr<std::vector<int>> MatchTensors(const vps::Layout& source,
                                              const vps::Layout& target) {
  if (source.tensors_digest() == target.tensors_digest()) {
    return std::vector<int>();
  }
  std::vector<int> matches;
  bool same = source.num_tensors() == target.num_tensors();
  bool in_order = true;
  for (int i = 0; same && i < target.num_tensors(); ++i) {
    const vps::TensorSpec& spec = target.tensor(i);
    std::optional<int> match = i;
    if (!SameTensor(source.tensor(i), spec)) {
      match = source.Find(spec.name(), spec.state());
      same = match.has_value() && SameTensor(source.tensor(*match), spec);
      in_order = false;
    }
    matches.push_back(match.value_or(-1));
  }
  if (same) return in_order ? std::vector<int>() : matches;
  return absl::FailedPreconditionError(
      absl::StrCat("source world (expected) and target world (actual) have "
                   "different tensors:\n",
                   vps::Difference(TensorsOf(source), TensorsOf(target))));
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
  auto body = std::make_shared<Body>();
  if (!source.empty()) {
    ASSIGN_OR_RETURN(body->source_tensors,
                     MatchTensors(source.layout(), target.layout()));
    body->target_tensors.resize(body->source_tensors.size());
    for (size_t i = 0; i < body->source_tensors.size(); ++i) {
      body->target_tensors[body->source_tensors[i]] = static_cast<int>(i);
    }
  }
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
  body->agreement = AgreementOf(source, target, options);
  body->digest = body->agreement.Digest();
  body->source = std::move(source);
  body->target = std::move(target);
  body->options = options;
  if (!body->source.empty()) {
    const PlanInput input(body);
    Kinds kinds = KindsOf(input);
    body->line_spans = LineSpansOf(input, kinds);
    body->num_classes = static_cast<int>(kinds.line_of_class.size());
    std::vector<int> shared_class_of_class;
    for (const int size : kinds.size_of_class) {
      shared_class_of_class.push_back(
          size > kSmallClass ? body->num_shared_classes++ : -1);
    }
    body->kinds.reserve(kinds.class_of_tensor.size());
    for (const int kind : kinds.class_of_tensor) {
      const int tensor = static_cast<int>(body->kinds.size());
      body->kinds.push_back(
          {kind, shared_class_of_class[kind],
           static_cast<int>(input.tensor(tensor).item_bytes()),
           input.source().layout().tensor(input.SourceTensor(tensor)).shape() !=
               input.tensor(tensor).shape()});
    }
  }
  return PlanInput(std::move(body));
}

absl::StatusOr<PlanInput> PlanInput::WithRegenerated(
    absl::Span<const Regenerated> weights) const {
  if (weights.empty()) return *this;
  auto body = std::make_shared<Body>(*body_);
  body->masters.resize(num_tensors(), -1);
  body->shares = nullptr;
  Fingerprinter digest;
  digest.Append("regenerated").Append(weights.size());
  for (const auto& [weight, master] : weights) {
    for (int index : {weight, master}) {
      if (index >= 0 && index < num_tensors()) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "regenerated: tensor ", index, "; there are ", num_tensors()));
    }
    if (body->masters[weight] >= 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "regenerated: ", tensor(weight).Id(), " is there twice"));
    }
    body->masters[weight] = master;
    digest.Append(weight).Append(master);
  }
  for (int master : body->masters) {
    if (master < 0 || body->masters[master] < 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("regenerated: ", tensor(master).Id(),
                     " is a master and regenerated itself"));
  }
  body->agreement.Set(AgreedPart::kWeights, digest.Finish())
      .Set(AgreedPart::kSenders, {});
  body->digest = body->agreement.Digest();
  return PlanInput(std::move(body));
}

PlanInput PlanInput::WithShares(
    std::shared_ptr<const SenderShares> shares) const {
  if (shares == body_->shares) return *this;
  auto body = std::make_shared<Body>(*body_);
  body->agreement.Set(AgreedPart::kSenders,
                      shares == nullptr ? Fingerprint() : shares->digest);
  body->digest = body->agreement.Digest();
  body->shares = std::move(shares);
  return PlanInput(std::move(body));
}

vps::Box PlanInput::CommonBox(int tensor) const {
  const vps::Box whole = this->tensor(tensor).whole();
  const vps::Box& source =
      this->source().layout().tensor(SourceTensor(tensor)).whole();
  if (whole.dims() == 0) return whole;
  return whole.With(0, {0, std::min(whole.extent(0), source.extent(0))});
}

}  // namespace dynatrain::transition
