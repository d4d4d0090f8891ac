#include "api/layout_file/layout_file.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/json/reader.h"
#include "api/layout_file/common_fields.h"
#include "api/layout_file/load_torch.h"
#include "api/layout_file/megatron_section.h"
#include "api/layout_file/yaml.h"
#include "api/listing/json_codec.h"
#include "base/status_macros.h"
#include "vps/layout/axis_sizes.h"
#include "vps/layout/listing/listed_layout.h"
#include "vps/layout/megatron/megatron_layout.h"
#include "vps/model/state_list.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using vps::ListedBuffer;
using vps::megatron::MegatronBuffer;
using vps::megatron::MegatronLayout;

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

absl::StatusOr<LoadedLayout> LoadMegatron(ObjectReader root, ReadText read) {
  root.Require({"model", "framework", "world"});
  root.AllowOnly({"model", "framework", "version", "world", "parallelism",
                  "megatron", "states"});
  const int64_t world = root.Int("world", 1, vps::kMaxWorldSize, 1);
  const std::string framework = root.Text("framework");
  const std::string version = root.Text("version");
  RETURN_IF_ERROR(root.status());
  ASSIGN_OR_RETURN(const vps::ModelConfig model,
                   ParseModel(root.At("model"), read));
  ASSIGN_OR_RETURN(const vps::StateList states, ReadStates(root));
  ASSIGN_OR_RETURN(
      const vps::megatron::MegatronConfig config,
      ReadMegatronSection(world, version, root.Object("parallelism"),
                          root.Object("megatron")));
  ASSIGN_OR_RETURN(MegatronLayout made,
                   vps::megatron::MakeMegatronLayout(model, config, states));
  const auto job = std::make_shared<const MegatronLayout>(std::move(made));
  return LoadedLayout{
      .model = ModelName(root.At("model")),
      .framework = framework,
      .framework_version = config->version.name,
      .layout = job->layout(),
      .live = {.name =
                   [job](int, int tensor, int copy) {
                     return std::string(job->LiveName(tensor, copy));
                   },
               .buffers = [job](int rank) { return BuffersOf(*job, rank); }}};
}

absl::StatusOr<LoadedLayout> LoadListing(absl::string_view text) {
  ASSIGN_OR_RETURN(vps::Listing listing, DecodeListing(text));
  const std::string framework = listing.framework();
  const std::string version = listing.framework_version();
  ASSIGN_OR_RETURN(vps::ListedLayout listed,
                   vps::MakeListedLayout(std::move(listing)), "listing");
  return LoadedLayout{.model = "",
                      .framework = framework,
                      .framework_version = version,
                      .layout = std::move(listed.layout),
                      .live = std::move(listed.live)};
}

}  // namespace

absl::StatusOr<LoadedLayout> LoadLayoutTree(const Json& json, ReadText read) {
  ObjectReader root(json, "");
  const std::vector<std::string> frameworks = {"megatron", "torch",
                                               "deepspeed"};
  root.Require({"framework"});
  if (!root.status().ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(root.status().message(), " (one of ",
                     absl::StrJoin(frameworks, ", "), ")"));
  }
  const int framework = root.Choice("framework", frameworks);
  RETURN_IF_ERROR(root.status());
  if (framework == 1) return LoadTorch(std::move(root));
  if (framework == 2) return LoadDeepSpeed(std::move(root));
  return LoadMegatron(std::move(root), read);
}

absl::StatusOr<LoadedLayout> LoadLayout(absl::string_view text, ReadText read) {
  if (IsListing(text)) return LoadListing(text);
  ASSIGN_OR_RETURN(const YamlText yaml, YamlText::Parse(text));
  absl::StatusOr<LoadedLayout> loaded = LoadLayoutTree(yaml.root(), read);
  RETURN_IF_ERROR(yaml.AtLine(loaded.status()));
  return loaded;
}

}  // namespace dynatrain::api
