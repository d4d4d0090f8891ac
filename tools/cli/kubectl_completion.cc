#include "tools/cli/kubectl_completion.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tools/cli/commands.h"

namespace dynatrain::cli {
namespace {

struct Offer {
  std::vector<std::string> words;
  bool files = false;
};

Offer Of(Completes completes, std::vector<std::string> choices) {
  return {std::move(choices), completes == Completes::kFiles ||
                                  completes == Completes::kFilesOrChoices};
}

// The option that `word` names; nullptr if none that takes a value.
const Option* ValueOption(const Command& command, absl::string_view word) {
  for (const Option& option : command.options) {
    const bool named =
        word == absl::StrCat("--", option.name) ||
        (!option.letter.empty() && word == absl::StrCat("-", option.letter));
    if (named && option.takes_value()) return &option;
  }
  return nullptr;
}

Offer OfCommand(const Command& command, absl::Span<const std::string> words) {
  const std::string& last = words.back();
  if (const Option* option = ValueOption(command, words[words.size() - 2])) {
    return Of(option->completes, option->choices);
  }
  if (absl::StartsWith(last, "-")) {
    const size_t equals = last.find('=');
    const Option* option = ValueOption(command, last.substr(0, equals));
    if (equals != std::string::npos && option != nullptr) {
      Offer offer = Of(option->completes, option->choices);
      for (std::string& word : offer.words) {
        word = absl::StrCat(last.substr(0, equals + 1), word);
      }
      return offer;
    }
    Offer offer = {{"--help"}};
    for (const Option& it : command.options) {
      offer.words.push_back(absl::StrCat("--", it.name));
    }
    return offer;
  }
  for (const Argument& argument : command.arguments) {
    return Of(argument.completes, argument.choices);
  }
  return {};
}

Offer OfTool() {
  Offer offer = {{"--help", "--version"}};
  for (const Command& command : Commands()) {
    offer.words.push_back(command.name);
  }
  return offer;
}

}  // namespace

std::string KubectlCompletion(absl::Span<const std::string> words) {
  Offer offer;
  if (words.size() < 2) {
    offer = OfTool();
  } else if (const Command* command = FindCommand(words[0])) {
    offer = OfCommand(*command, words);
  }
  std::string text;
  for (const std::string& word : offer.words) {
    if (words.empty() || absl::StartsWith(word, words.back())) {
      absl::StrAppend(&text, word, "\n");
    }
  }
  return absl::StrCat(text, offer.files ? ":0" : ":4", "\n");
}

}  // namespace dynatrain::cli
