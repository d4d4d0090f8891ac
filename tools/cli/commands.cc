#include "tools/cli/commands.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/cluster_file/shipped_clusters.h"
#include "tools/simulate/paper_cases.h"
#include "vps/model/presets.h"

namespace dynatrain::cli {
namespace {

Option Output(std::vector<std::string> formats, std::string help) {
  return {.name = "output",
          .letter = "o",
          .value = "FORMAT",
          .help = std::move(help),
          .completes = Completes::kChoices,
          .choices = std::move(formats)};
}

Argument LayoutFile() {
  return {.name = "FILE",
          .help = "a layout file (YAML or JSON); - is standard input",
          .completes = Completes::kFiles};
}

Command Layout() {
  return {
      .name = "layout",
      .summary = "who owns what: ranks, tensors, elements",
      .text =
          "Without --rank, --tensor or --state it shows one line per rank, or, "
          "in\n"
          "a world of more than 64 ranks, per pipeline stage.",
      .arguments = {LayoutFile()},
      .options =
          {Output(
               {"table", "json", "svg"},
               "table for people (the default), json: a listing as live jobs\n"
               "dump it, svg: a picture"),
           {.name = "rank",
            .letter = "r",
            .value = "RANKS",
            .help = "only these ranks and what each holds: 3, 0-7,12 or all"},
           {.name = "tensor",
            .letter = "t",
            .value = "GLOB",
            .help =
                "only tensors whose name matches, * and ? as in a shell, and\n"
                "which rank holds which part of them"},
           {.name = "state",
            .letter = "s",
            .value = "STATE",
            .help = "only this state: param, main, exp_avg, ..."},
           {.name = "diff",
            .letter = "d",
            .value = "LISTING",
            .help =
                "compare with what a live job dumped, name the first tensors\n"
                "that differ and how; exit code 1 if any does",
            .completes = Completes::kFiles}},
      .examples =
          "$ layout job.yaml                      # ranks, stages, layers, "
          "bytes\n"
          "$ layout job.yaml --rank 5             # all that rank 5 holds\n"
          "$ layout job.yaml -t '*.3.*fc1*'       # who holds fc1 of layer 3\n"
          "$ layout job.yaml -o svg > layout.svg  # a picture of it\n"
          "$ layout --diff live.json job.yaml     # is the live job what we "
          "think?\n"};
}

Command Explain() {
  return {
      .name = "explain",
      .summary = "how one element comes to lie where it lies",
      .text =
          "Shows each step from the whole tensor down to ranks, buffer and "
          "byte,\n"
          "with the arithmetic.",
      .arguments = {LayoutFile()},
      .options =
          {{.name = "element",
            .letter = "e",
            .value = "NAME[I,J]",
            .help = "the element: the tensor's whole name and its index, one\n"
                    "number per dim"},
           {.name = "state",
            .letter = "s",
            .value = "STATE",
            .help = "of this state: param (the default), main, exp_avg, ..."}},
      .examples =
          "$ explain job.yaml -e "
          "'decoder.layers.3.mlp.linear_fc1.weight[17,5]'\n"
          "$ explain job.yaml -e 'embedding.word_embeddings.weight[0,0]' \\\n"
          "    --state exp_avg\n"};
}

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (absl::string_view name : vps::PresetNames()) names.emplace_back(name);
  return names;
}

std::vector<std::string> ClusterNames() {
  std::vector<std::string> names;
  for (const api::ShippedCluster& it : api::ShippedClusters()) {
    names.emplace_back(it.name);
  }
  return names;
}

Option ClusterOption() {
  return {.name = "cluster",
          .letter = "c",
          .value = "CLUSTER",
          .help = absl::StrCat(
              "a cluster file (YAML), or one of examples/clusters by name:\n",
              absl::StrJoin(ClusterNames(), ", ")),
          .completes = Completes::kFilesOrChoices,
          .choices = ClusterNames()};
}

Option ModelOption(absl::string_view when = "") {
  return {.name = "model",
          .letter = "m",
          .value = "MODEL",
          .help = absl::StrCat("a model by name, or the path of its Hugging "
                               "Face\nconfig.json",
                               when),
          .completes = Completes::kFilesOrChoices,
          .choices = ModelNames()};
}

Option PlanLayout(std::string name, std::string letter, std::string help) {
  return {.name = std::move(name),
          .letter = std::move(letter),
          .value = "LAYOUT",
          .help = std::move(help),
          .completes = Completes::kFiles};
}

Command Plan() {
  return {
      .name = "plan",
      .summary = "what going from one layout to another would move and cost",
      .text =
          "A LAYOUT is a word like tp8,pp4,dp4 (Megatron; axes in any order, "
          "of tp pp dp\n"
          "cp ep etp vpp, and first, last: layers of the outer stages, zero0: "
          "no distributed\n"
          "optimizer, instances: of it, world: ranks in the place of dp), or a "
          "layout file.\n"
          "Nothing is moved: all is computed from the two layouts and the "
          "cluster's figures.",
      .arguments = {},
      .options =
          {ModelOption("; needed by layouts that are words"),
           PlanLayout("from", "f", "the layout that runs"),
           PlanLayout("to", "t", "the layout that it is to become"),
           ClusterOption(),
           {.name = "states",
            .letter = "s",
            .value = "STATES",
            .help = "what the job keeps of a parameter: bf16-mixed (the\n"
                    "default), fp32, fp8, ..., or param:bfloat16,main:float32"},
           {.name = "from-nodes",
            .letter = "",
            .value = "NODES",
            .help = "nodes of the cluster that the job runs on, 0-15 or\n"
                    "0-2,5; its ranks fill them in order. Default: the first"},
           {.name = "to-nodes",
            .letter = "",
            .value = "NODES",
            .help =
                "nodes that it is to run on; they may be the same, others\n"
                "or some of both. best: those, in the order, that keep most"},
           {.name = "relabel",
            .letter = "",
            .value = "UNIT",
            .help = "let other processes take the new ranks, so that more\n"
                    "stays: nodes (as a whole) or ranks",
            .completes = Completes::kChoices,
            .choices = {"nodes", "ranks"}},
           {.name = "weights",
            .letter = "",
            .value = "HOW",
            .help =
                "moved (the default, and what jobs do); regenerated: where "
                "the\n"
                "master of a weight is float32, cast it and gather the "
                "weight\n"
                "instead; auto: that, where it is fewer bytes. Exact if the "
                "job\n"
                "rounds to nearest. Memory and stages: for moved alone",
            .completes = Completes::kChoices,
            .choices = {"moved", "regenerated", "auto"}},
           {.name = "mode",
            .letter = "",
            .value = "MODE",
            .help =
                "safe: the old state stays until commit; tight: memory is\n"
                "given back on the way; auto (the default): safe if it fits",
            .completes = Completes::kChoices,
            .choices = {"auto", "safe", "tight"}},
           {.name = "memory",
            .letter = "",
            .value = "GIB",
            .help =
                "of one rank, for old and new state; default: the cluster's"},
           {.name = "budget",
            .letter = "",
            .value = "MIB",
            .help = "what tight may use beyond the larger of the two states,\n"
                    "64 or more; default 256"},
           {.name = "free-by",
            .letter = "",
            .value = "UNIT",
            .help = "what can be given back by itself: extents (the default;\n"
                    "arenas), tensors or buffers",
            .completes = Completes::kChoices,
            .choices = {"extents", "tensors", "buffers"}},
           {.name = "extent",
            .letter = "",
            .value = "MIB",
            .help = "memory goes by whole pages of this size, such as 2;\n"
                    "default: any bytes"},
           {.name = "dead",
            .letter = "",
            .value = "MIB",
            .help = "of one rank, memory that is dead at a step boundary, as\n"
                    "gradients are: packing uses it first; default: none"},
           Output({"table", "json", "svg"},
                  "table for people (the default), json: all of it, with\n"
                  "units in the names (docs/plan.md), svg: a picture of who\n"
                  "sends what to whom, and when"),
           {.name = "trace",
            .letter = "",
            .value = "FILE",
            .help = "write when each port sends and receives what, for\n"
                    "ui.perfetto.dev or chrome://tracing",
            .completes = Completes::kFiles},
           {.name = "runs",
            .letter = "",
            .value = "",
            .help =
                "how what moves lies in memory: in one piece, or strided at "
                "either\n"
                "end, and in how few descriptors for each pair of ranks"},
           {.name = "check",
            .letter = "",
            .value = "",
            .help = "prove of all ranks' programs that nobody waits for ever\n"
                    "and each element arrives once; exit code 5 if not"}},
      .examples =
          "$ plan --model llama2-70b --from tp8,pp4,dp4 --to tp4,pp8,dp4 "
          "--cluster a800x16\n"
          "$ plan -m deepseek-v3 -f pp16,dp8,ep8,last1 -t pp8,dp16,ep16,last5 "
          "-c h100x16\n"
          "$ plan -m llama2-70b -f tp8,pp4,dp4 -t tp8,pp4,dp3 -c a800x16 "
          "--to-nodes best\n"
          "$ plan -f job.yaml -t wider.yaml -c my-cluster.yaml --check\n"};
}

// "paper": all of them.
std::vector<std::string> SimulatedCases() {
  std::vector<std::string> names = {"paper"};
  for (const simulate::PaperCase& it : simulate::PaperCases()) {
    names.push_back(it.name);
  }
  return names;
}

Command Simulate() {
  return {
      .name = "simulate",
      .summary = "what a whole trace of nodes that come and go would cost",
      .text =
          "A job follows the nodes; each change is worked out as `plan` does, "
          "and beside\n"
          "it by other systems' rules (checkpoint-restart, Tenplex, HotSPa, "
          "ElasticMegatron)\n"
          "under the same cost model. The trace is CSV: "
          "time_s,event,nodes,notice_s, where\n"
          "event is + or -, nodes a count or names (n0;n3). --case shows the "
          "paper's cases.",
      .arguments = {},
      .options =
          {{.name = "trace",
            .letter = "t",
            .value = "FILE",
            .help = "the trace (CSV); - is standard input",
            .completes = Completes::kFiles},
           ClusterOption(),
           ModelOption(),
           {.name = "layouts",
            .letter = "l",
            .value = "LAYOUTS",
            .help = "those allowed, as words without dp, which the number of\n"
                    "nodes gives: 'tp8,pp4 tp8,pp2'. Default: any that fits"},
           {.name = "case",
            .letter = "",
            .value = "CASE",
            .help = "a case of the DynaTrain paper instead of a trace, or\n"
                    "paper: all of them",
            .completes = Completes::kChoices,
            .choices = SimulatedCases()},
           {.name = "assume",
            .letter = "a",
            .value = "NAME=VALUE,...",
            .help = "other figures than those listed below the result:\n"
                    "init_s=30,storage_gb_per_s=100"},
           {.name = "until",
            .letter = "u",
            .value = "SECONDS",
            .help = "when it ends; default: an hour after the last event"},
           Output({"table", "json"},
                  "table for people (the default), json: all of it, with\n"
                  "units in the names (docs/simulate.md)")},
      .examples =
          "$ simulate --trace spot.csv --cluster a800x16 --model llama2-70b\n"
          "$ simulate -t spot.csv -c a800x16 -m qwen3-235b-a22b -l "
          "'tp4,pp4,ep8,etp1'\n"
          "$ simulate -t spot.csv -c a800x16 -m llama2-70b -a "
          "overlap=0,init_s=120 -o json\n"
          "$ simulate --case paper-70b\n"};
}

Command Completion() {
  return {
      .name = "completion",
      .summary = "a script that completes commands in your shell",
      .text = "",
      .arguments = {{.name = "SHELL",
                     .help = "bash, zsh or fish",
                     .completes = Completes::kChoices,
                     .choices = {"bash", "zsh", "fish"}}},
      .options = {},
      .examples =
          "$ completion bash > /etc/bash_completion.d/dynatrain\n"
          "source <($ completion zsh)\n"
          "$ completion fish > ~/.config/fish/completions/dynatrain.fish\n"};
}

}  // namespace

absl::Span<const Command> Commands() {
  static const auto* const commands = new std::vector<Command>{
      Layout(), Explain(), Plan(), Simulate(), Completion()};
  return *commands;
}

const Command* FindCommand(absl::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace dynatrain::cli
