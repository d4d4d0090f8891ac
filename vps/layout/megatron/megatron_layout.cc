#include "vps/layout/megatron/megatron_layout.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/megatron/job_meshes.h"
#include "vps/layout/megatron/job_states.h"
#include "vps/layout/megatron/param_order.h"
#include "vps/layout/megatron/state_cut.h"
#include "vps/layout/megatron/tensor_parallel.h"
#include "vps/layout/megatron/vocab.h"
#include "vps/layout/placement.h"
#include "vps/model/dtype.h"
#include "vps/model/model_tensor.h"
#include "vps/model/state_class.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps::megatron {
namespace {

using Shape = absl::InlinedVector<int64_t, 3>;

// Where one chunk has a tensor.
struct Place {
  int stage = 0;
  int ep_rank = 0;
  int name = 0;          // index of its live name
  int buffer = -1;       // index of its buffer; none: -1
  int64_t begin = 0;     // in the buffer
  FlatPosition in_flat;  // in its bucket
};

// A buffer of parameters and the one of their gradients, in the layout.
struct BufferPair {
  int parameters = 0;
  int gradients = 0;
};

bool IsElementwise(const StateClass& state) {
  return state.granularity.kind == Granularity::Kind::kElement;
}

}  // namespace

// One use: collects where each tensor is, chunk by chunk, then adds them.
class MegatronLayoutMaker {
 public:
  MegatronLayoutMaker(const MegatronConfig& config, const StateList& states,
                      const ParamOrder& order)
      : config_(config),
        states_(states),
        order_(order),
        places_(order.tensors().size()) {}

  absl::StatusOr<MegatronLayout> Make() &&;

 private:
  // What a buffer is for: of experts apart from others, by dtype in memory.
  struct BufferKey {
    bool experts;
    Dtype dtype;
    friend bool operator==(const BufferKey&, const BufferKey&) = default;
  };
  struct BufferPlan {
    BufferKey key;
    std::vector<LiveTensor> parameters;
  };

  const ModelTensor& tensor(int index) const { return order_.tensors()[index]; }
  const MeshRole& mesh_of(const ModelTensor& tensor) const {
    return tensor.expert.has_value() ? meshes_.experts : meshes_.dense;
  }

  absl::Status AddChunk(int stage, int chunk);
  std::vector<BufferPlan> PlanBuffers(std::vector<LiveTensor> live) const;
  absl::Status AddBuffer(int stage, int chunk, BufferPlan plan);
  void AddPlaces(int stage, const LiveTensor& live, std::string name,
                 Place place);
  BufferPair BufferOf(const std::string& name);

  absl::StatusOr<Shape> PaddedShape(const ModelTensor& tensor) const;
  absl::StatusOr<int64_t> LocalElements(const ModelTensor& tensor) const;
  absl::Status AddTensor(int index);
  absl::Status AddState(int index, const StateClass& state);
  int PlacementFor(const ModelTensor& tensor, std::optional<Cut> cut,
                   bool is_flat);
  Held HeldAt(const ModelTensor& tensor, const Place& place, int placement,
              const StateClass& state, bool is_flat) const;

  const MegatronConfig& config_;
  const StateList& states_;
  const ParamOrder& order_;
  LayoutBuilder builder_;
  JobMeshes meshes_;
  std::map<std::string, BufferPair> buffers_;
  std::vector<BufferPair> buffer_pairs_;
  std::vector<std::vector<Place>> places_;  // by tensor; copy 0 first
  using PlacementKey = std::tuple<int, bool, int, int, std::vector<int64_t>>;
  std::map<PlacementKey, int> placements_;
  // Of the result.
  std::vector<std::string> live_names_;
  std::vector<int> names_of_copies_;
  std::vector<int> first_copy_ = {0};
  std::vector<std::vector<MegatronBuffer>> stage_buffers_;
};

absl::StatusOr<MegatronLayout> MegatronLayoutMaker::Make() && {
  const bool has_experts = std::any_of(
      order_.tensors().begin(), order_.tensors().end(),
      [](const ModelTensor& tensor) { return tensor.expert.has_value(); });
  ASSIGN_OR_RETURN(meshes_, JobMeshes::Create(config_.ranks(), config_->version,
                                              has_experts, builder_));
  const Pipeline& pipeline = order_.pipeline();
  stage_buffers_.resize(pipeline.pp());
  for (int chunk = 0; chunk < pipeline.vpp(); ++chunk) {
    for (int stage = 0; stage < pipeline.pp(); ++stage) {
      RETURN_IF_ERROR(AddChunk(stage, chunk),
                      absl::StrCat("stage ", stage, ", chunk ", chunk));
    }
  }
  for (int index = 0; index < static_cast<int>(places_.size()); ++index) {
    RETURN_IF_ERROR(AddTensor(index));
  }
  ASSIGN_OR_RETURN(Layout layout, std::move(builder_).Build());
  MegatronLayout result(std::move(layout));
  result.live_names_ = std::move(live_names_);
  result.names_of_copies_ = std::move(names_of_copies_);
  result.first_copy_ = std::move(first_copy_);
  result.buffers_ = std::move(stage_buffers_);
  const Mesh& mesh = config_.ranks().dense();
  result.pp_stride_ = mesh.stride(*mesh.AxisIndex("pp"));
  return result;
}

absl::Status MegatronLayoutMaker::AddChunk(int stage, int chunk) {
  std::vector<LiveTensor> live = order_.Chunk(stage, chunk);
  for (const LiveTensor& entry : live) {
    if (tensor(entry.tensor).is_parameter()) continue;
    AddPlaces(stage, entry, absl::StrCat(chunk, "/", entry.name), {});
  }
  for (BufferPlan& plan : PlanBuffers(std::move(live))) {
    RETURN_IF_ERROR(AddBuffer(stage, chunk, std::move(plan)));
  }
  return absl::OkStatus();
}

// Dense parameters first, then experts; dtypes as they come.
std::vector<MegatronLayoutMaker::BufferPlan> MegatronLayoutMaker::PlanBuffers(
    std::vector<LiveTensor> live) const {
  std::vector<BufferPlan> plans;
  for (LiveTensor& entry : live) {
    const ModelTensor& parameter = tensor(entry.tensor);
    if (!parameter.is_parameter()) continue;
    const BufferKey key = {
        .experts = meshes_.experts_apart && parameter.expert.has_value(),
        .dtype = BufferDtype(parameter, states_)};
    auto plan = std::find_if(
        plans.begin(), plans.end(),
        [&](const BufferPlan& candidate) { return candidate.key == key; });
    if (plan == plans.end()) {
      plan = plans.insert(plans.end(), {.key = key});
    }
    plan->parameters.push_back(std::move(entry));
  }
  std::stable_partition(plans.begin(), plans.end(), [](const BufferPlan& plan) {
    return !plan.key.experts;
  });
  return plans;
}

absl::Status MegatronLayoutMaker::AddBuffer(int stage, int chunk,
                                            BufferPlan plan) {
  std::vector<FlatParameter> parameters;
  for (const LiveTensor& entry : plan.parameters) {
    ASSIGN_OR_RETURN(const int64_t elements,
                     LocalElements(tensor(entry.tensor)));
    parameters.push_back(
        {.elements = elements, .shared_embedding = entry.shared_embedding});
  }
  const MeshRole& role = plan.key.experts ? meshes_.experts : meshes_.dense;
  ASSIGN_OR_RETURN(
      FlatBuffer flat,
      FlatBuffer::Create(
          parameters,
          {.pieces = role.shards.pieces,
           .bucket_size = config_.BucketSize(stage, chunk),
           .distributed_optimizer = config_->distributed_optimizer,
           .pad_for_high_bandwidth = config_->pad_for_high_bandwidth}));
  MegatronBuffer buffer = {
      .name = absl::StrCat(chunk, plan.key.experts ? "/expert/" : "/dense/",
                           DtypeName(plan.key.dtype)),
      .flat = std::move(flat)};
  const BufferPair pair = BufferOf(buffer.name);
  buffer_pairs_.push_back(pair);
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const FlatSlot& slot = buffer.flat.slot(i);
    const FlatBucket& bucket = buffer.flat.buckets()[slot.bucket];
    Place place = {.buffer = static_cast<int>(buffer_pairs_.size()) - 1,
                   .begin = slot.begin};
    if (config_->distributed_optimizer) {
      place.in_flat = {.position = slot.begin - bucket.begin,
                       .shard = buffer.flat.ShardElements(slot.bucket)};
    }
    std::string name = absl::StrCat(chunk, "/", plan.parameters[i].name);
    buffer.live_names.push_back(name);
    AddPlaces(stage, plan.parameters[i], std::move(name), place);
  }
  stage_buffers_[stage].push_back(std::move(buffer));
  return absl::OkStatus();
}

void MegatronLayoutMaker::AddPlaces(int stage, const LiveTensor& live,
                                    std::string name, Place place) {
  place.stage = stage;
  place.name = static_cast<int>(live_names_.size());
  live_names_.push_back(std::move(name));
  const int ep_ranks =
      tensor(live.tensor).expert.has_value() ? config_.ranks().ep() : 1;
  for (place.ep_rank = 0; place.ep_rank < ep_ranks; ++place.ep_rank) {
    places_[order_.TensorOfExpertRank(live.tensor, place.ep_rank)].push_back(
        place);
  }
}

// Buffers of one name on several stages are one name in the layout.
BufferPair MegatronLayoutMaker::BufferOf(const std::string& name) {
  const auto [it, is_new] = buffers_.try_emplace(name);
  if (is_new) {
    it->second = {.parameters = builder_.AddBuffer(name),
                  .gradients = builder_.AddBuffer(name + "/grad")};
  }
  return it->second;
}

absl::StatusOr<Shape> MegatronLayoutMaker::PaddedShape(
    const ModelTensor& tensor) const {
  Shape shape = tensor.shape;
  if (!tensor.pad_from.has_value()) return shape;
  ASSIGN_OR_RETURN(shape[0], PadVocab(*tensor.pad_from, config_.ranks().tp(),
                                      config_->vocab_divisor));
  return shape;
}

absl::StatusOr<int64_t> MegatronLayoutMaker::LocalElements(
    const ModelTensor& tensor) const {
  ASSIGN_OR_RETURN(const Shape shape, PaddedShape(tensor));
  const std::optional<int64_t> elements = CheckedVolume(shape);
  if (!elements.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(tensor.name, ": the elements of shape [",
                     absl::StrJoin(shape, ", "), "] do not fit 63 bits"));
  }
  if (CutOf(tensor, config_->spec).axis == TensorAxis::kNone) return *elements;
  return *elements / mesh_of(tensor).cut_pieces;
}

absl::Status MegatronLayoutMaker::AddTensor(int index) {
  for (const StateClass& state : states_.states()) {
    if (!HasState(tensor(index), state)) continue;
    RETURN_IF_ERROR(AddState(index, state));
  }
  return absl::OkStatus();
}

int MegatronLayoutMaker::PlacementFor(const ModelTensor& tensor,
                                      std::optional<Cut> cut, bool is_flat) {
  const MeshRole& role = mesh_of(tensor);
  PlacementKey key = {role.mesh, is_flat, -1, 0, {}};
  if (cut.has_value()) {
    key = {role.mesh, is_flat, cut->dim, cut->num_blocks, cut->block_extents};
  }
  const auto [it, is_new] = placements_.try_emplace(std::move(key));
  if (!is_new) return it->second;
  Placement placement = {.mesh = role.mesh, .located_by = role.located_by};
  if (cut.has_value()) placement.cuts.push_back(*std::move(cut));
  if (is_flat) placement.flat = Flat{role.shards};
  it->second = builder_.AddPlacement(std::move(placement));
  return it->second;
}

Held MegatronLayoutMaker::HeldAt(const ModelTensor& tensor, const Place& place,
                                 int placement, const StateClass& state,
                                 bool is_flat) const {
  Held held = {.placement = placement, .at = {place.stage}};
  if (mesh_of(tensor).located_by.size() > 1) held.at.push_back(place.ep_rank);
  if (is_flat) {
    held.flat = place.in_flat;
    return held;
  }
  if (place.buffer < 0 || !IsElementwise(state)) return held;
  const BufferPair& pair = buffer_pairs_[place.buffer];
  if (state.placement == StatePlacement::kGradient) {
    held.storage = {.buffer = pair.gradients, .offset = place.begin};
  } else if (state.placement == StatePlacement::kModel &&
             config_->distributed_optimizer) {
    // Only this optimizer moves the parameters themselves into a buffer.
    held.storage = {.buffer = pair.parameters, .offset = place.begin};
  }
  return held;
}

absl::Status MegatronLayoutMaker::AddState(int index, const StateClass& state) {
  const ModelTensor& tensor = this->tensor(index);
  Shape shape = StateShape(tensor, state);
  if (IsElementwise(state)) {
    ASSIGN_OR_RETURN(shape, PaddedShape(tensor));
  }
  ASSIGN_OR_RETURN(TensorSpec spec,
                   TensorSpec::Create(tensor.name, state.name, state.dtype,
                                      shape, tensor.pad_from));
  const MeshRole& role = mesh_of(tensor);
  ASSIGN_OR_RETURN(std::optional<Cut> cut,
                   CutOfState(tensor, CutOf(tensor, config_->spec), state,
                              role.cut_axis, role.cut_pieces));
  const bool is_flat = config_->distributed_optimizer &&
                       tensor.is_parameter() && IsElementwise(state) &&
                       state.placement != StatePlacement::kModel;
  const int placement = PlacementFor(tensor, std::move(cut), is_flat);
  const int added = builder_.AddTensor(std::move(spec));
  for (const Place& place : places_[index]) {
    builder_.AddCopy(added, HeldAt(tensor, place, placement, state, is_flat));
    names_of_copies_.push_back(place.name);
  }
  first_copy_.push_back(static_cast<int>(names_of_copies_.size()));
  return absl::OkStatus();
}

absl::string_view MegatronLayout::LiveName(int tensor, int copy) const {
  return live_names_[names_of_copies_[first_copy_[tensor] + copy]];
}

absl::Span<const MegatronBuffer> MegatronLayout::Buffers(int rank) const {
  const int stages = static_cast<int>(buffers_.size());
  return buffers_[rank / pp_stride_ % stages];
}

absl::StatusOr<MegatronLayout> MakeMegatronLayout(const ModelConfig& model,
                                                  const MegatronConfig& config,
                                                  const StateList& states) {
  RETURN_IF_ERROR(CheckStates(states, config));
  ASSIGN_OR_RETURN(Pipeline pipeline, config.PipelineOf(model));
  const Ranks& ranks = config.ranks();
  const int64_t experts =
      model->experts.has_value() ? model->experts->count : 1;
  // ParamOrder needs an ep that divides; the check below refuses another.
  const int ep = experts % ranks.ep() == 0 ? ranks.ep() : 1;
  const ParamOrder order(model,
                         {.spec = config->spec,
                          .grouped_experts = config->grouped_experts,
                          .ep = ep,
                          .version = config->version},
                         std::move(pipeline));
  RETURN_IF_ERROR(CheckTensorParallel(
      model, order.tensors(), config->spec,
      {.tp = ranks.tp(), .etp = ranks.etp(), .ep = ranks.ep()}));
  return MegatronLayoutMaker(config, states, order).Make();
}

}  // namespace dynatrain::vps::megatron
