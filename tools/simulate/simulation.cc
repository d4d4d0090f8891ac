#include "tools/simulate/simulation.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "tools/simulate/checkpoint_strategy.h"
#include "tools/simulate/node_set.h"
#include "tools/simulate/switch_case.h"

namespace dynatrain::simulate {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;

absl::Status CheckSeconds(const char* name, int64_t ns, int64_t least_ns) {
  constexpr int64_t kMax = 10 * 365 * 24 * kHourNs;
  if (ns >= least_ns && ns <= kMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", ns / 1e9,
                                                 " is not in [", least_ns / 1e9,
                                                 ", ", kMax / 1e9, "]"));
}

struct Running {
  Sizing sizing;
  std::vector<int> nodes;
};

class Simulator {
 public:
  Simulator(const Trace& trace, Sizer& sizer, JobCache& jobs,
            const Strategy& strategy, const SimulationOptions& options)
      : trace_(trace),
        sizer_(sizer),
        jobs_(jobs),
        strategy_(strategy),
        options_(options) {
    result_.strategy = std::string(strategy.name());
    result_.end_ns = options.end_ns;
    if (result_.end_ns == 0) {
      result_.end_ns =
          kHourNs +
          (trace.events().empty() ? 0 : trace.events().back().time_ns);
    }
  }

  absl::StatusOr<RunResult> Run(Progress progress) {
    const auto& events = trace_.events();
    size_t next = 0;
    while (next < events.size() && events[next].time_ns < result_.end_ns &&
           now_ns_ < result_.end_ns) {
      progress(static_cast<int>(next), static_cast<int>(events.size()));
      Train(events[next].time_ns);
      event_ns_ = events[next].time_ns;
      while (next < events.size() && events[next].time_ns <= now_ns_) {
        nodes_.Apply(events[next++]);
      }
      RETURN_IF_ERROR(Follow());
    }
    Train(result_.end_ns);
    Finish();
    return std::move(result_);
  }

 private:
  // Lets training, or standing, go on until then.
  void Train(int64_t until_ns) {
    if (until_ns <= now_ns_) return;
    const int64_t passed = until_ns - now_ns_;
    if (!running_.has_value()) {
      result_.down_ns += passed;
      now_ns_ = until_ns;
      return;
    }
    const int64_t step_ns = running_->sizing.step_ns;
    const int64_t due =
        (until_ns - saved_ns_) / options_.checkpoint_interval_ns;
    if (due > 0) {
      saved_ns_ += due * options_.checkpoint_interval_ns;
      // A checkpoint that was due in a pause has the step before it.
      const int64_t at = std::max(saved_ns_, now_ns_);
      saved_steps_ = result_.steps + (into_step_ns_ + at - now_ns_) / step_ns;
    }
    result_.steps += (into_step_ns_ + passed) / step_ns;
    into_step_ns_ = (into_step_ns_ + passed) % step_ns;
    now_ns_ = until_ns;
  }

  int64_t FirstBoundary(int64_t from_ns) const {
    const int64_t step_ns = running_->sizing.step_ns;
    const int64_t into = (into_step_ns_ + from_ns - now_ns_) % step_ns;
    return into == 0 ? from_ns : from_ns + step_ns - into;
  }

  // Brings the job to where the nodes that stay want it.
  absl::Status Follow() {
    const std::optional<Sizing> wanted = sizer_.Best(nodes_.NumStaying());
    if (!wanted.has_value()) {
      return running_.has_value() ? Stop() : absl::OkStatus();
    }
    Running target = {*wanted, nodes_.Staying(RunningNodes(), wanted->nodes)};
    if (!running_.has_value()) return Start(std::move(target));
    if (target.sizing == running_->sizing && target.nodes == running_->nodes) {
      return absl::OkStatus();
    }
    return Switch(std::move(target));
  }

  std::vector<int> RunningNodes() const {
    return running_.has_value() ? running_->nodes : std::vector<int>();
  }

  absl::StatusOr<RunningJob> JobOf(const Running& running) {
    return jobs_.Get(running.sizing.shape, !strategy_.replicates_optimizer(),
                     running.nodes);
  }

  Change Begin(ChangeKind kind, const std::optional<Running>& target) const {
    Change change = {.kind = kind, .event_ns = event_ns_, .begin_ns = now_ns_};
    if (running_.has_value()) {
      change.from = running_->sizing.shape.ToString(running_->sizing.ranks);
      change.nodes_before = running_->sizing.nodes;
    }
    if (target.has_value()) {
      change.to = target->sizing.shape.ToString(target->sizing.ranks);
      change.nodes_after = target->sizing.nodes;
    }
    return change;
  }

  // For a change that the simulation does not come to any more.
  absl::Status TrainToTheEnd() {
    Train(result_.end_ns);
    return absl::OkStatus();
  }

  // Training stood still from change.begin_ns, before the simulation ends, and
  // goes on at `until_ns`.
  void End(Change change, int64_t until_ns, std::optional<Running> target) {
    change.pause_ns = until_ns - change.begin_ns;
    if (change.kind != ChangeKind::kStop) {
      result_.paused_ns += std::min(until_ns, result_.end_ns) - change.begin_ns;
    }
    result_.moved_bytes += change.time.network_bytes;
    result_.stored_bytes += change.time.storage_bytes;
    result_.lost_steps += change.lost_steps;
    now_ns_ = until_ns;
    into_step_ns_ = 0;
    running_ = std::move(target);
    result_.changes.push_back(std::move(change));
  }

  absl::StatusOr<SwitchTime> LoadTime(const Running& target) {
    ASSIGN_OR_RETURN(const RunningJob job, JobOf(target));
    Movement movement;
    if (result_.steps > 0) {
      movement.phases.push_back(LoadCheckpoint(job.world, jobs_.cluster()));
    }
    return TimeOf(movement, jobs_.cluster(), options_.site);
  }

  absl::Status Start(Running target) {
    Change change = Begin(ChangeKind::kStart, target);
    ASSIGN_OR_RETURN(change.time, LoadTime(target));
    change.waited_ns = options_.init_ns;
    const int64_t until = now_ns_ + change.waited_ns + change.time.ns();
    End(std::move(change), until, std::move(target));
    if (result_.steps == 0) saved_ns_ = now_ns_;
    return absl::OkStatus();
  }

  // When to stop training so that all that needs the old nodes, which takes
  // `source_ns` once the new world is there, is over before they go; nullopt if
  // it can't be.
  std::optional<int64_t> StopFor(int64_t source_ns, int64_t goes_ns) const {
    const int64_t built_ns = now_ns_ + options_.init_ns;
    std::vector<int64_t> choices;
    if (options_.overlap) {
      const int64_t after = FirstBoundary(built_ns);
      choices = {after, after - running_->sizing.step_ns};
    }
    choices.push_back(FirstBoundary(now_ns_));
    choices.push_back(now_ns_);  // drops the step that it is in
    for (int64_t stop : choices) {
      if (stop >= now_ns_ && ReadyAt(stop) + source_ns <= goes_ns) return stop;
    }
    return std::nullopt;
  }

  // When the new world is there if training stops at `stop_ns`.
  int64_t ReadyAt(int64_t stop_ns) const {
    if (!options_.overlap) return stop_ns + options_.init_ns;
    return std::max(stop_ns, now_ns_ + options_.init_ns);
  }

  absl::Status Switch(Running target) {
    Change change = Begin(ChangeKind::kSwitch, target);
    ASSIGN_OR_RETURN(RunningJob source_job, JobOf(*running_));
    ASSIGN_OR_RETURN(RunningJob target_job, JobOf(target));
    ASSIGN_OR_RETURN(
        const SwitchCase switch_case,
        SwitchCase::Create(std::move(source_job), std::move(target_job),
                           jobs_.cluster()));
    ASSIGN_OR_RETURN(const Movement movement, strategy_.Plan(switch_case));
    ASSIGN_OR_RETURN(change.time,
                     TimeOf(movement, jobs_.cluster(), options_.site));
    const int64_t goes_ns = nodes_.FirstGoes(running_->nodes);
    const std::optional<int64_t> stop =
        StopFor(change.time.source_ns(), goes_ns);
    if (!stop.has_value()) return Recover(std::max(goes_ns, now_ns_));
    if (*stop >= result_.end_ns) return TrainToTheEnd();
    const int64_t ready_ns = ReadyAt(*stop);
    Train(*stop);
    change.begin_ns = now_ns_;
    change.waited_ns = ready_ns - now_ns_;
    const int64_t until = ready_ns + change.time.ns();
    End(std::move(change), until, std::move(target));
    if (strategy_.through_storage()) NoteSaved();
    return absl::OkStatus();
  }

  void NoteSaved() {
    saved_steps_ = result_.steps;
    saved_ns_ = now_ns_;
  }

  // Nodes go at `goes_ns`, in the middle of training.
  absl::Status Recover(int64_t goes_ns) {
    if (goes_ns >= result_.end_ns) return TrainToTheEnd();
    const bool foreseen = goes_ns > now_ns_;
    int64_t built_ns = goes_ns + options_.init_ns;
    if (!foreseen) built_ns += options_.detect_ns;
    if (foreseen && options_.overlap) {
      built_ns = std::max(goes_ns, now_ns_ + options_.init_ns);
    }
    Train(goes_ns);
    const int64_t lost = result_.steps - saved_steps_;
    result_.steps = saved_steps_;
    const std::optional<Sizing> wanted = sizer_.Best(nodes_.NumStaying());
    std::optional<Running> target;
    if (wanted.has_value()) {
      target = {*wanted, nodes_.Staying(running_->nodes, wanted->nodes)};
    }
    Change change = Begin(
        target.has_value() ? ChangeKind::kRecover : ChangeKind::kStop, target);
    change.lost_steps = lost;
    if (!target.has_value()) {
      End(std::move(change), now_ns_, std::nullopt);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(change.time, LoadTime(*target));
    change.waited_ns = built_ns - now_ns_;
    const int64_t until = built_ns + change.time.ns();
    End(std::move(change), until, std::move(target));
    return absl::OkStatus();
  }

  // Saves as late as it can.
  absl::Status Stop() {
    ASSIGN_OR_RETURN(const RunningJob job, JobOf(*running_));
    ASSIGN_OR_RETURN(
        const SwitchTime save,
        TimeOf(Movement{{SaveCheckpoint(job.world, jobs_.cluster())}},
               jobs_.cluster(), options_.site));
    const int64_t goes_ns = nodes_.FirstGoes(running_->nodes);
    const int64_t first = FirstBoundary(now_ns_);
    if (first + save.ns() > goes_ns) return Recover(std::max(goes_ns, now_ns_));
    const int64_t step_ns = running_->sizing.step_ns;
    const int64_t at =
        first + (goes_ns - save.ns() - first) / step_ns * step_ns;
    if (at >= result_.end_ns) return TrainToTheEnd();
    Train(at);
    Change change = Begin(ChangeKind::kStop, std::nullopt);
    change.time = save;
    const int64_t until = now_ns_ + save.ns();
    End(std::move(change), until, std::nullopt);
    NoteSaved();
    return absl::OkStatus();
  }

  void Finish() {
    const double batch = static_cast<double>(sizer_.figures().batch_tokens);
    result_.tokens = result_.steps * batch;
    NodeSet nodes;
    int64_t from = 0;
    size_t next = 0;
    const auto& events = trace_.events();
    while (from < result_.end_ns) {
      while (next < events.size() && events[next].time_ns <= from) {
        nodes.Apply(events[next++]);
      }
      int64_t until = std::min(result_.end_ns, nodes.NextGoes(from));
      if (next < events.size()) until = std::min(until, events[next].time_ns);
      if (const auto best = sizer_.Best(nodes.NumThere(from))) {
        result_.ideal_tokens +=
            batch * static_cast<double>(until - from) / best->step_ns;
      }
      from = until;
    }
  }

  const Trace& trace_;
  Sizer& sizer_;
  JobCache& jobs_;
  const Strategy& strategy_;
  const SimulationOptions& options_;

  NodeSet nodes_;
  int64_t now_ns_ = 0;
  int64_t event_ns_ = 0;
  std::optional<Running> running_;
  int64_t into_step_ns_ = 0;
  int64_t saved_steps_ = 0;  // of the last checkpoint
  int64_t saved_ns_ = 0;
  RunResult result_;
};

}  // namespace

const char* ChangeKindName(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kStart:
      return "start";
    case ChangeKind::kSwitch:
      return "switch";
    case ChangeKind::kRecover:
      return "recover";
    case ChangeKind::kStop:
      return "stop";
  }
  return "?";
}

absl::Status CheckOptions(const SimulationOptions& options) {
  constexpr int64_t kSecond = 1'000'000'000;
  RETURN_IF_ERROR(CheckSiteFigures(options.site));
  RETURN_IF_ERROR(CheckSeconds("init_s", options.init_ns, 0));
  RETURN_IF_ERROR(CheckSeconds("detect_s", options.detect_ns, 0));
  RETURN_IF_ERROR(
      CheckSeconds("checkpoint_s", options.checkpoint_interval_ns, kSecond));
  return CheckSeconds("until", options.end_ns, 0);
}

absl::StatusOr<RunResult> Simulate(const Trace& trace, Sizer& sizer,
                                   JobCache& jobs, const Strategy& strategy,
                                   const SimulationOptions& options,
                                   Progress progress) {
  RETURN_IF_ERROR(CheckOptions(options));
  return Simulator(trace, sizer, jobs, strategy, options).Run(progress);
}

}  // namespace dynatrain::simulate
