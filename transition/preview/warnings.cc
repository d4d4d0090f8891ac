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

std::string Gigabytes(int64_t bytes) {
  return absl::StrFormat("%.3g GB", static_cast<double>(bytes) / 1e9);
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
                     Gigabytes(load.bytes), ", since each rank uses its own: ",
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
        absl::StrCat("rank ", busiest, " of the cluster sends ",
                     Gigabytes(most), ", ", Times(most, mean), " the mean of ",
                     senders, " senders (", Gigabytes(mean), ")"));
  }

  void ReplicatedState() {
    for (const StateBytes& state : preview_.bytes.states) {
      if (!Exceeds(state.sums.moved_bytes, state.whole_bytes,
                   thresholds_.replicated_permille)) {
        continue;
      }
      Add("replicated-state",
          absl::StrCat(state.state, " moves ",
                       Times(state.sums.moved_bytes, state.whole_bytes),
                       " its own ", Gigabytes(state.whole_bytes),
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
        absl::StrCat(Gigabytes(total.moved_bytes), " move where ",
                     Gigabytes(total.minimal_bytes), " would do"));
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
