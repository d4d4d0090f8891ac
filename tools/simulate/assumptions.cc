#include "tools/simulate/assumptions.h"

#include <cmath>
#include <functional>
#include <type_traits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/nearest.h"
#include "base/status_macros.h"

namespace dynatrain::simulate {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kGb = 1e9;
constexpr double kGib = int64_t{1} << 30;
constexpr double kMostStored = 9e18;  // fits 63 bits

// One name: how its value is read and set.
struct Figure {
  const char* name;
  const char* about;
  double unit;  // of the value, in what is stored
  std::function<double(const Assumptions&)> get;
  std::function<void(Assumptions&, double)> set;
};

// `field` gives the field of an Assumptions as a reference.
template <typename Field>
Figure Scaled(const char* name, const char* about, double unit, Field field) {
  return {name, about, unit,
          [=](const Assumptions& all) {
            return static_cast<double>(field(all)) / unit;
          },
          [=](Assumptions& all, double value) {
            auto& place = field(all);
            using Value = std::remove_reference_t<decltype(place)>;
            if constexpr (std::is_integral_v<Value>) {
              place = static_cast<Value>(std::llround(value * unit));
            } else {
              place = value * unit;
            }
          }};
}

const std::vector<Figure>& Figures() {
  static const auto* const figures = new std::vector<Figure>{
      Scaled(
          "init_s", "building a new world, beside training if overlap is 1",
          kNsPerSecond,
          [](auto& it) -> auto& { return it.simulation.init_ns; }),
      Scaled(
          "detect_s", "until nodes that went without notice are missed",
          kNsPerSecond,
          [](auto& it) -> auto& { return it.simulation.detect_ns; }),
      Scaled(
          "checkpoint_s", "between periodic checkpoints", kNsPerSecond,
          [](auto& it) -> auto& {
            return it.simulation.checkpoint_interval_ns;
          }),
      {"overlap", "1: new worlds are built beside training, by all strategies",
       1, [](const Assumptions& all) { return all.simulation.overlap ? 1 : 0; },
       [](Assumptions& all, double value) {
         all.simulation.overlap = value != 0;
       }},
      Scaled(
          "drain_ms", "ranks reach the step boundary one after the other", 1e6,
          [](auto& it) -> auto& { return it.simulation.site.pause.drain_ns; }),
      Scaled(
          "commit_ms", "the durable write, and until the first new step", 1e6,
          [](auto& it) -> auto& { return it.simulation.site.pause.commit_ns; }),
      Scaled(
          "copy_gb_per_s", "copies in a rank's memory", kGb,
          [](auto& it) -> auto& {
            return it.simulation.site.pause.copy_bytes_per_second;
          }),
      Scaled(
          "verify_gb_per_s", "digests of a rank's memory", kGb,
          [](auto& it) -> auto& {
            return it.simulation.site.pause.verify_bytes_per_second;
          }),
      Scaled(
          "host_link_gb_per_s", "between a rank's device and its host", kGb,
          [](auto& it) -> auto& {
            return it.simulation.site.host_link_bytes_per_second;
          }),
      Scaled(
          "storage_gb_per_s", "the shared file system, over all nodes", kGb,
          [](auto& it) -> auto& {
            return it.simulation.site.storage_bytes_per_second;
          }),
      Scaled(
          "storage_node_gb_per_s", "the same, of one node", kGb,
          [](auto& it) -> auto& {
            return it.simulation.site.storage_node_bytes_per_second;
          }),
      Scaled(
          "batch_tokens", "of a step", 1,
          [](auto& it) -> auto& { return it.step.batch_tokens; }),
      Scaled(
          "sequence_tokens", "of a sequence; a microbatch is one", 1,
          [](auto& it) -> auto& { return it.step.sequence_tokens; }),
      Scaled(
          "tflops", "peak of one rank, bfloat16", 1e12,
          [](auto& it) -> auto& { return it.step.flops_per_second; }),
      Scaled(
          "efficiency", "of the peak, in large matrix products", 1,
          [](auto& it) -> auto& { return it.step.efficiency; }),
      Scaled(
          "experts_per_token", "of models with experts", 1,
          [](auto& it) -> auto& { return it.step.experts_per_token; }),
      Scaled(
          "data_overlap", "part of data parallel traffic behind backward", 1,
          [](auto& it) -> auto& { return it.step.data_overlap; }),
      Scaled(
          "reserved_gib", "of a rank's memory, beside states and gradients",
          kGib, [](auto& it) -> auto& { return it.step.reserved_bytes; }),
  };
  return *figures;
}

const Figure* Find(absl::string_view name) {
  for (const Figure& figure : Figures()) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

absl::Status Unknown(absl::string_view name) {
  std::vector<std::string> names;
  for (const Figure& figure : Figures()) names.push_back(figure.name);
  const std::string near = DidYouMean(name, names);
  return absl::InvalidArgumentError(absl::StrCat(
      "no assumption \"", absl::CHexEscape(name.substr(0, 64)), "\"",
      near.empty() ? absl::StrCat("; there are ", absl::StrJoin(names, ", "))
                   : near));
}

}  // namespace

absl::Status Assume(absl::string_view text, Assumptions& assumptions) {
  Assumptions changed = assumptions;
  std::vector<absl::string_view> seen;
  for (absl::string_view entry : absl::StrSplit(text, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    const Figure* const figure = Find(parts.first);
    if (figure == nullptr) return Unknown(parts.first);
    for (absl::string_view name : seen) {
      if (name != parts.first) continue;
      return absl::InvalidArgumentError(absl::StrCat(name, " is there twice"));
    }
    seen.push_back(parts.first);
    double value = 0;
    if (!absl::SimpleAtod(parts.second, &value) || !(value >= 0) ||
        !(value * figure->unit <= kMostStored)) {
      return absl::InvalidArgumentError(absl::StrCat(
          figure->name, ": \"", absl::CHexEscape(parts.second.substr(0, 64)),
          "\" is no number from 0 to ", kMostStored / figure->unit, "; as in ",
          figure->name, "=", figure->get(assumptions)));
    }
    figure->set(changed, value);
  }
  RETURN_IF_ERROR(CheckOptions(changed.simulation));
  RETURN_IF_ERROR(CheckStepFigures(changed.step));
  assumptions = changed;
  return absl::OkStatus();
}

std::vector<Assumption> Listed(const Assumptions& assumptions) {
  std::vector<Assumption> all;
  for (const Figure& figure : Figures()) {
    all.push_back({figure.name, figure.get(assumptions), figure.about});
  }
  return all;
}

}  // namespace dynatrain::simulate
