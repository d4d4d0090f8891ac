#include "api/layout_file/layout_file.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "api/json/reader.h"
#include "api/layout_file/megatron_section.h"
#include "api/layout_file/yaml.h"
#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/state_list.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using vps::ListedBuffer;
using vps::megatron::MegatronBuffer;
using vps::megatron::MegatronLayout;

// What all frameworks have in common.
struct Common {
  std::string framework;
  std::string version;
  int64_t world = 1;
  vps::ModelConfig model;
  vps::StateList states;
};

std::vector<ListedBuffer> BuffersOf(const MegatronLayout& job, int rank) {
  std::vector<ListedBuffer> buffers;
  for (const MegatronBuffer& buffer : job.Buffers(rank)) {
    ListedBuffer listed = {buffer.name, buffer.flat.elements(), {}, {}};
    for (const vps::megatron::FlatBucket& bucket : buffer.flat.buckets()) {
      listed.buckets.push_back({bucket.begin, bucket.end, bucket.unpadded});
    }
    // As Megatron keeps them: the last declared first.
    for (size_t i = buffer.live_names.size(); i-- > 0;) {
      const vps::megatron::FlatSlot& slot = buffer.flat.slot(i);
      listed.tensors.push_back({buffer.live_names[i], slot.begin, slot.end});
    }
    buffers.push_back(std::move(listed));
  }
  return buffers;
}

absl::StatusOr<LoadedLayout> Megatron(const Common& common,
                                      const ObjectReader& root) {
  ASSIGN_OR_RETURN(
      const vps::megatron::MegatronConfig config,
      ReadMegatronSection(common.world, common.version,
                          root.Object("parallelism"), root.Object("megatron")));
  ASSIGN_OR_RETURN(
      MegatronLayout made,
      vps::megatron::MakeMegatronLayout(common.model, config, common.states));
  const auto job = std::make_shared<const MegatronLayout>(std::move(made));
  return LoadedLayout{
      .framework = common.framework,
      .framework_version = config->version.name,
      .layout = job->layout(),
      .live = {.name =
                   [job](int, int tensor, int copy) {
                     return std::string(job->LiveName(tensor, copy));
                   },
               .buffers = [job](int rank) { return BuffersOf(*job, rank); }}};
}

// "states: bf16-mixed" or a list of "name:dtype".
absl::StatusOr<vps::StateList> ReadStates(const ObjectReader& root) {
  const Json& states = root.At("states");
  if (states.is_null()) {
    return absl::InvalidArgumentError(
        "states is missing: a preset like bf16-mixed, or a list like "
        "[param:bfloat16, main:float32]");
  }
  if (states.is_string()) {
    return vps::StateList::Preset(states.get<std::string>());
  }
  std::vector<std::string> texts;
  for (const Json& state : states) {
    if (!states.is_array() || !state.is_string()) {
      return absl::InvalidArgumentError(
          absl::StrCat("states: ", DumpJson(states).substr(0, 60),
                       " is neither a preset nor a list of texts"));
    }
    texts.push_back(state.get<std::string>());
  }
  return vps::StateList::Parse(texts);
}

// What the file calls the model.
std::string ModelName(const Json& model) {
  if (model.is_string()) return model.get<std::string>();
  for (const char* key : {"name", "family", "huggingface"}) {
    const auto it = model.find(key);
    if (it != model.end() && it->is_string()) return it->get<std::string>();
  }
  return "";
}

absl::StatusOr<LoadedLayout> ReadLayout(const Json& json, ReadText read) {
  ObjectReader root(json, "");
  root.Require({"model", "framework", "world"});
  root.AllowOnly({"model", "framework", "version", "world", "parallelism",
                  "megatron", "states"});
  const std::string framework = root.Text("framework");
  const std::string version = root.Text("version");
  root.Choice("framework", {"megatron"});
  const int64_t world = root.Int("world", 1, vps::kMaxWorldSize, 1);
  RETURN_IF_ERROR(root.status());
  ASSIGN_OR_RETURN(vps::ModelConfig model, ParseModel(root.At("model"), read));
  ASSIGN_OR_RETURN(vps::StateList states, ReadStates(root));
  const Common common = {framework, version, world, std::move(model),
                         std::move(states)};
  ASSIGN_OR_RETURN(LoadedLayout loaded, Megatron(common, root));
  loaded.model = ModelName(root.At("model"));
  return loaded;
}

}  // namespace

absl::StatusOr<LoadedLayout> LoadLayout(absl::string_view text, ReadText read) {
  ASSIGN_OR_RETURN(const YamlText yaml, YamlText::Parse(text));
  absl::StatusOr<LoadedLayout> loaded = ReadLayout(yaml.root(), read);
  RETURN_IF_ERROR(yaml.AtLine(loaded.status()));
  return loaded;
}

}  // namespace dynatrain::api
