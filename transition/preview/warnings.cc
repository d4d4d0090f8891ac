#include "transition/preview/warnings.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynatrain::transition {
namespace {

bool Exceeds(int64_t value, int64_t of, int64_t permille) {
  return of > 0 && absl::uint128(value) * 1000 >
                       absl::uint128(of) * absl::uint128(permille);
}

std::string Times(int64_t value, int64_t of) {
  return absl::StrFormat("%.3gx",
                         static_cast<double>(value) / static_cast<double>(of));
}

std::string Milliseconds(int64_t ns) {
  return absl::StrFormat("%.4g ms", static_cast<double>(ns) / 1e6);
}

std::string SizeText(int64_t bytes) {
  const bool giga = bytes >= 1'000'000'000;
  return absl::StrFormat("%.3g %s",
                         static_cast<double>(bytes) / (giga ? 1e9 : 1e6),
                         giga ? "GB" : "MB");
}

class Warner {
 public:
  Warner(const Preview& preview, const WarningThresholds& thresholds)
      : preview_(preview),
        bounds_(preview.schedule.bounds),
        thresholds_(thresholds) {}

  std::vector<Warning> Warn() && {
    NicBottleneck();
    NicImbalance();
    UnbalancedSender();
    ReplicatedState();
    XorAboveBound();
    MovedAboveMinimum();
    Memory();
    return std::move(warnings_);
  }

 private:
  void Add(const char* code, std::string text) {
    warnings_.push_back({code, std::move(text)});
  }

  void NicBottleneck() {
    const auto time = [&](const PortLoad& out, const PortLoad& in, Lane lane) {
      return TransferNs(std::max(out.bytes, in.bytes),
                        preview_.cluster.PortBytesPerSecond(lane));
    };
    const int64_t inside =
        time(bounds_.max_inside_out, bounds_.max_inside_in, Lane::kInside);
    const int64_t nic =
        time(bounds_.max_nic_out, bounds_.max_nic_in, Lane::kBetween);
    if (!Exceeds(nic, inside, thresholds_.bottleneck_permille)) return;
    Add("nic-bottleneck",
        absl::StrCat("the network takes ", Milliseconds(nic), ", ",
                     Times(nic, inside), " as long as the links inside nodes (",
                     Milliseconds(inside), "): more NICs would help"));
  }

  void NicImbalance() {
    if (!Exceeds(bounds_.pinned_ns, bounds_.ideal_ns,
                 thresholds_.own_nic_permille)) {
      return;
    }
    const bool out = bounds_.max_nic_out.bytes >= bounds_.max_nic_in.bytes;
    const PortLoad& load = out ? bounds_.max_nic_out : bounds_.max_nic_in;
    Add("nic-imbalance",
        absl::StrCat("NIC ", load.port, out ? " sends " : " receives ",
                     SizeText(load.bytes), ", since each rank uses its own: ",
                     Milliseconds(bounds_.pinned_ns),
                     " where all NICs of its "
                     "node together would take ",
                     Milliseconds(bounds_.ideal_ns)));
  }

  void UnbalancedSender() {
    int64_t most = 0, sum = 0, senders = 0;
    int busiest = 0;
    for (int i = 0; i < preview_.bytes.processes.size(); ++i) {
      const int64_t sent = preview_.bytes.processes[i].sent_bytes;
      sum += sent;
      senders += sent > 0;
      if (sent > most) {
        most = sent;
        busiest = preview_.place_of_process[i];
      }
    }
    if (senders < 2) return;
    const int64_t mean = sum / senders;
    if (!Exceeds(most, mean, thresholds_.unbalanced_permille)) return;
    Add("unbalanced-sender",
        absl::StrCat("rank ", busiest, " of the cluster sends ", SizeText(most),
                     ", ", Times(most, mean), " the mean of ", senders,
                     " senders (", SizeText(mean), ")"));
  }

  void ReplicatedState() {
    for (const StateBytes& state : preview_.bytes.states) {
      // What is a hundredth of all is not worth a word.
      const bool small =
          state.sums.moved_bytes < preview_.bytes.total.moved_bytes / 100;
      if (small || !Exceeds(state.sums.moved_bytes, state.whole_bytes,
                            thresholds_.replicated_permille)) {
        continue;
      }
      Add("replicated-state",
          absl::StrCat(state.state, " moves ",
                       Times(state.sums.moved_bytes, state.whole_bytes),
                       " its own ", SizeText(state.whole_bytes),
                       ": each replica receives its copy"));
    }
  }

  void XorAboveBound() {
    for (const LaneChoice& lane : preview_.schedule.lanes) {
      const CandidateCosts& it = lane.candidates.front();
      if (lane.kind != ScheduleKind::kXor ||
          !Exceeds(it.ordered_bytes, lane.bound_bytes, kMaxXorRatioPermille)) {
        continue;
      }
      Add("xor-above-bound",
          absl::StrCat("the schedule ", LaneName(lane.lane), " nodes takes ",
                       Times(it.ordered_bytes, lane.bound_bytes),
                       " its bound: the world is too large for a list "
                       "schedule, which would be within 1.01x"));
    }
  }

  void MovedAboveMinimum() {
    const ByteSums& total = preview_.bytes.total;
    if (total.moved_bytes <= total.minimal_bytes) return;
    Add("moved-above-minimum",
        absl::StrCat(SizeText(total.moved_bytes), " move where ",
                     SizeText(total.minimal_bytes), " would do"));
  }

  void Memory() {
    if (!preview_.staging.has_value()) {
      Add("memory-unknown",
          preview_.bytes.total.regenerated_bytes > 0
              ? "no stages are planned where weights are made anew: peak "
                "memory is not known"
              : "too many regions to plan stages: peak memory is not known");
      return;
    }
    const StagePlan& plan = preview_.staging->plan;
    if (plan.options.limit_bytes == 0) {
      Add("memory-unknown",
          absl::StrCat("whether ", SizeText(plan.PeakBytes()),
                       " fit a rank is not known: the cluster's figures don't "
                       "say how much memory it has"));
    }
    if (plan.mode == StageMode::kTight) {
      Add("tight-mode",
          "memory is given back on the way: a failure then is completed from "
          "what is really there, not undone");
    }
  }

  const Preview& preview_;
  const LowerBounds& bounds_;
  const WarningThresholds& thresholds_;
  std::vector<Warning> warnings_;
};

}  // namespace

std::vector<Warning> WarningsOf(const Preview& preview,
                                const WarningThresholds& thresholds) {
  return Warner(preview, thresholds).Warn();
}

}  // namespace dynatrain::transition
