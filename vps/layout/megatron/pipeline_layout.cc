#include "vps/layout/megatron/pipeline_layout.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace dynatrain::vps::megatron {
namespace {

// A symbol, and where in the user's text it stands, from 1.
struct Symbol {
  char character;
  int position;
};
using Symbols = std::vector<Symbol>;

absl::Status TooLong() {
  return absl::InvalidArgumentError(
      absl::StrCat("pipeline_layout expands to more than ",
                   kMaxPipelineLayoutSymbols, " symbols"));
}

// "*12" at `i` -> 12 and what comes after; nullopt if there is none.
struct Repeat {
  int64_t times;
  size_t next;
};
std::optional<Repeat> ReadRepeat(const Symbols& in, size_t i) {
  if (i >= in.size() || in[i].character != '*') return std::nullopt;
  size_t next = i + 1;
  int64_t times = 0;
  while (next < in.size() && absl::ascii_isdigit(in[next].character)) {
    // Saturates above what is refused anyway.
    times = std::min<int64_t>(times * 10 + (in[next].character - '0'),
                              kMaxPipelineLayoutSymbols + 1);
    ++next;
  }
  if (next == i + 1) return std::nullopt;
  return Repeat{times, next};
}

absl::Status AppendTimes(const Symbols& in, size_t begin, size_t end,
                         int64_t times, Symbols& out) {
  if (static_cast<int64_t>(out.size()) +
          times * static_cast<int64_t>(end - begin) >
      kMaxPipelineLayoutSymbols) {
    return TooLong();
  }
  for (int64_t i = 0; i < times; ++i) {
    out.insert(out.end(), in.begin() + begin, in.begin() + end);
  }
  return absl::OkStatus();
}

// Megatron's r'\(([^)]+)\)\*(\d+)'.
absl::StatusOr<Symbols> ExpandParentheses(const Symbols& in) {
  Symbols out;
  for (size_t i = 0; i < in.size();) {
    size_t close = i + 1;
    if (in[i].character == '(') {
      while (close < in.size() && in[close].character != ')') ++close;
    }
    const bool is_group = in[i].character == '(' && close > i + 1;
    const auto repeat =
        is_group ? ReadRepeat(in, close + 1) : std::optional<Repeat>();
    if (!repeat.has_value()) {
      out.push_back(in[i++]);
      continue;
    }
    RETURN_IF_ERROR(AppendTimes(in, i + 1, close, repeat->times, out));
    i = repeat->next;
  }
  return out;
}

// Megatron's r'(.)\*(\d+)'.
absl::StatusOr<Symbols> ExpandSymbols(const Symbols& in) {
  Symbols out;
  for (size_t i = 0; i < in.size();) {
    const auto repeat = ReadRepeat(in, i + 1);
    RETURN_IF_ERROR(
        AppendTimes(in, i, i + 1, repeat.has_value() ? repeat->times : 1, out));
    i = repeat.has_value() ? repeat->next : i + 1;
  }
  return out;
}

int64_t Count(absl::Span<const std::string> stages, char symbol) {
  int64_t count = 0;
  for (const std::string& stage : stages) {
    count += std::count(stage.begin(), stage.end(), symbol);
  }
  return count;
}

absl::Status Refuse(absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("pipeline_layout: ", why));
}

absl::Status CheckEnds(absl::Span<const std::string> stages) {
  std::string all;
  for (const std::string& stage : stages) all += stage;
  if (all.empty() || all.front() != 'E') {
    return Refuse("the first layer must be the embedding, E");
  }
  if (all.back() != 'L') return Refuse("the last layer must be the loss, L");
  if (Count(stages, 'E') != 1) return Refuse("E must be there exactly once");
  if (Count(stages, 'L') != 1) return Refuse("L must be there exactly once");
  const size_t mtp = all.find('m');
  if (mtp != std::string::npos && all.find('t', mtp) != std::string::npos) {
    return Refuse("all t must come before the first m");
  }
  return absl::OkStatus();
}

absl::Status CheckMtp(absl::Span<const std::string> stages, int pp,
                      int mtp_layers) {
  const size_t last_chunk = stages.size() - pp;
  for (size_t i = 0; i < stages.size(); ++i) {
    const int64_t here = Count(stages.subspan(i, 1), 'm');
    if (here == 0) continue;
    if (i < last_chunk) {
      return Refuse(
          absl::StrCat("m is in chunk ", i / pp, " of stage ", i % pp,
                       "; MTP layers are in the last chunk of their stage, ",
                       stages.size() / pp - 1));
    }
    if (here != mtp_layers) {
      return Refuse(absl::StrCat("stage ", i % pp, " has ", here, " of the ",
                                 mtp_layers,
                                 " MTP layers; they must be together"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ParsePipelineLayout(
    absl::string_view text) {
  if (text.size() > kMaxPipelineLayoutBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("pipeline_layout has ", text.size(), " bytes; at most ",
                     kMaxPipelineLayoutBytes, " are read"));
  }
  Symbols symbols;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') symbols.push_back({text[i], static_cast<int>(i) + 1});
  }
  ASSIGN_OR_RETURN(symbols, ExpandParentheses(symbols));
  ASSIGN_OR_RETURN(symbols, ExpandSymbols(symbols));
  std::vector<std::string> stages(1);
  for (const Symbol& symbol : symbols) {
    if (symbol.character == '|') {
      stages.emplace_back();
    } else if (absl::string_view("EtmL").find(symbol.character) !=
               absl::string_view::npos) {
      stages.back() += symbol.character;
    } else {
      return absl::InvalidArgumentError(absl::StrCat(
          "pipeline_layout, position ", symbol.position, ": '",
          absl::CHexEscape(absl::string_view(&symbol.character, 1)),
          "' is no layer; they are E, t, m and L, stages end with '|', and "
          "(...)*n or t*n repeats"));
    }
  }
  return stages;
}

absl::Status CheckPipelineLayout(absl::Span<const std::string> stages, int pp,
                                 int layers, int mtp_layers) {
  if (stages.empty() || stages.size() % pp != 0) {
    const size_t below = stages.size() / pp * pp;
    return Refuse(absl::StrCat(
        "it has ", stages.size(), " stages, which pp = ", pp,
        " does not divide; the nearest numbers that it does: ",
        below == 0 ? "" : absl::StrCat(below, " and "), below + pp));
  }
  RETURN_IF_ERROR(CheckEnds(stages));
  if (Count(stages, 't') != layers) {
    return Refuse(absl::StrCat("it has ", Count(stages, 't'),
                               " decoder layers; the model has ", layers));
  }
  if (Count(stages, 'm') != mtp_layers) {
    return Refuse(absl::StrCat("it has ", Count(stages, 'm'),
                               " MTP layers; the model has ", mtp_layers));
  }
  return CheckMtp(stages, pp, mtp_layers);
}

}  // namespace dynatrain::vps::megatron
