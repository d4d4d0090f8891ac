#include "tools/cli/commands.h"

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
  static const auto* const commands =
      new std::vector<Command>{Layout(), Explain(), Completion()};
  return *commands;
}

const Command* FindCommand(absl::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

}  // namespace dynatrain::cli
