#include "tools/simulate/paper_cases.h"

#include <numeric>

#include "base/status_macros.h"
#include "vps/model/families.h"
#include "vps/model/presets.h"

namespace dynatrain::simulate {
namespace {

constexpr char kHotSpaModel[] = "llama-32b";

std::vector<int> Nodes(int first, int count) {
  std::vector<int> nodes(count);
  std::iota(nodes.begin(), nodes.end(), first);
  return nodes;
}

// HotSPa-AE 941a18db, hotspa/scripts/exprs_for_paper/llama_hot_switch.sh.
absl::StatusOr<vps::ModelConfig> HotSpaModel() {
  vps::ModelNumbers numbers = vps::FamilyFeatures(vps::Family::kLlama);
  numbers.hidden = 6656;
  numbers.layers = 60;
  numbers.heads = 64;
  numbers.ffn = 17920;
  numbers.vocabulary = 30592;
  return vps::ModelConfig::Create(numbers);
}

constexpr char kPortBound[] =
    "what a node sends and receives passes its network cards, which takes as "
    "long as that whatever the schedule; the paper's abstract names no cards";
constexpr char kWholePrograms[] =
    "the paper compares programs; here both rules have the same transport "
    "and schedule and neither restarts processes";
constexpr char kSameBytes[] =
    "both rules move the same bytes; what one batch costs beside packing "
    "(memory for all of it, messages of a group) is not in the model";

std::vector<PaperCase> MakeCases() {
  const Shape tp4_pp2 = {.tp = 4, .pp = 2};
  const std::string tenplex_tuples =
      "a (tp, pp, dp) tuple of Tenplex on 8 and 16 ranks, GPT-3 6.7B";
  std::vector<PaperCase> cases;
  cases.push_back({.name = "paper-70b",
                   .title = "70B dense on 16 nodes, tp and pp change",
                   .assumed = "tp8,pp4,dp4 to tp4,pp8,dp4: the paper's "
                              "abstract names no layouts",
                   .model = "llama2-70b",
                   .from = {{.tp = 8, .pp = 4}, Nodes(0, 16)},
                   .to = {{.tp = 4, .pp = 8}, Nodes(0, 16)},
                   .paper = "< 2 s",
                   .seconds = 2,
                   .why = kPortBound});
  cases.push_back(
      {.name = "paper-235b",
       .title = "235B MoE on 16 nodes, tp and ep change",
       .assumed = "tp4,pp8,ep8 to tp2,pp8,ep16, etp 1: the paper's "
                  "abstract names no layouts",
       .model = "qwen3-235b-a22b",
       .from = {{.tp = 4, .pp = 8, .ep = 8, .etp = 1}, Nodes(0, 16)},
       .to = {{.tp = 2, .pp = 8, .ep = 16, .etp = 1}, Nodes(0, 16)},
       .paper = "4.36 s",
       .seconds = 4.36,
       .why = kPortBound});
  const auto single = [&](std::string name, std::string title, Shape to,
                          std::string paper, double ratio) {
    cases.push_back({.name = std::move(name),
                     .title = std::move(title),
                     .assumed = tenplex_tuples,
                     .model = "gpt3-6.7b",
                     .from = {tp4_pp2, Nodes(0, 1)},
                     .to = {to, Nodes(0, 2)},
                     .paper = std::move(paper),
                     .ratio = ratio,
                     .baseline = "tenplex",
                     .why = kWholePrograms});
  };
  const std::string up_to = "up to 33x Tenplex";
  single("paper-single-dp", "one dimension, dp 1 to 2", tp4_pp2, up_to, 33);
  single("paper-single-pp", "one dimension, pp 2 to 4", {.tp = 4, .pp = 4},
         up_to, 33);
  single("paper-single-tp", "one dimension, tp 4 to 8", {.tp = 8, .pp = 2},
         up_to, 33);
  cases.push_back({.name = "paper-migrate",
                   .title = "migration to 8 other nodes, same layout",
                   .assumed = "70B, tp8,pp4,dp2 on 8 of 16 nodes: the paper's "
                              "abstract names neither",
                   .model = "llama2-70b",
                   .from = {{.tp = 8, .pp = 4}, Nodes(0, 8)},
                   .to = {{.tp = 8, .pp = 4}, Nodes(8, 8)},
                   .paper = "15x Tenplex",
                   .ratio = 15,
                   .baseline = "tenplex",
                   .why = kWholePrograms});
  cases.push_back({.name = "paper-hybrid",
                   .title = "hybrid, dp, tp and pp change",
                   .assumed = "HotSPa's own 32B on 4 nodes, (dp, tp, pp) (4, "
                              "2, 4) to (2, 8, 2)",
                   .model = kHotSpaModel,
                   .from = {{.tp = 2, .pp = 4}, Nodes(0, 4)},
                   .to = {{.tp = 8, .pp = 2}, Nodes(0, 4)},
                   .paper = "2.11x HotSPa",
                   .ratio = 2.11,
                   .baseline = "hotspa",
                   .why = kSameBytes});
  return cases;
}

}  // namespace

absl::Span<const PaperCase> PaperCases() {
  static const auto* const cases = new std::vector<PaperCase>(MakeCases());
  return *cases;
}

const PaperCase* FindPaperCase(absl::string_view name) {
  for (const PaperCase& it : PaperCases()) {
    if (it.name == name) return &it;
  }
  return nullptr;
}

absl::StatusOr<JobModel> ModelByName(absl::string_view name) {
  ASSIGN_OR_RETURN(vps::ModelConfig config,
                   name == kHotSpaModel ? HotSpaModel() : vps::Preset(name));
  ASSIGN_OR_RETURN(vps::StateList states, vps::StateList::Preset("bf16-mixed"));
  return JobModel{std::string(name), std::move(config), std::move(states)};
}

absl::StatusOr<transition::ClusterModel> WithNics(
    const transition::ClusterModel& cluster, int nics) {
  transition::ClusterFigures figures = cluster.figures();
  figures.nics_per_node = nics;
  return transition::ClusterModel::Create(figures);
}

}  // namespace dynatrain::simulate
