#include "operator/reconcile/fake_cluster.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/job/serials.h"
#include "gtest/gtest.h"
#include "operator/reconcile/decide.h"

namespace dynatrain::control {
namespace {

using transition::Participant;
using transition::Phase;
using transition::RankOrder;

// Ticks that things take.
constexpr int kScheduled = 1;
constexpr int kStarted = 2;
constexpr int kAgentUp = 3;
constexpr int kPreparing = 3;
constexpr int kExitLeft = 86;
constexpr int kExitDismissed = 87;
constexpr int kExitKilled = 137;

bool IsCommand(const Action& action) {
  return !std::holds_alternative<CreatePod>(action) &&
         !std::holds_alternative<DeletePod>(action) &&
         !std::holds_alternative<WriteStatus>(action) &&
         !std::holds_alternative<RecordEvent>(action) &&
         !std::holds_alternative<RequeueAfter>(action) &&
         !std::holds_alternative<StandDown>(action);
}

bool InWorld(const agent::World& world, uint32_t serial) {
  return std::any_of(
      world.members.begin(), world.members.end(),
      [&](const agent::Member& member) { return member.serial == serial; });
}

}  // namespace

FakeCluster::FakeCluster(api::JobSpec spec) {
  job_.metadata.namespace_name = "default";
  job_.metadata.name = "gpt";
  job_.metadata.uid = "uid";
  job_.metadata.generation = 1;
  job_.metadata.resource_version = "1";
  spec.pod_template =
      R"({"spec": {"containers": [{"name": "t", "command": ["train"]}]}})";
  job_.spec = std::move(spec);
}

// ---- the operator

void FakeCluster::Tick() {
  if (!operator_away) {
    const std::vector<Action> actions = Decide(Look());
    CheckActions(actions);
    Act(actions);
  }
  now_ += absl::Seconds(1);
  Train();
  for (auto& [serial, pod] : pods_) MoveOn(pod);
  std::erase_if(pods_, [](const auto& entry) {
    const FakePod& pod = entry.second;
    return pod.view.ended() && pod.view.deletion_time;
  });
  CheckLaws();
}

bool FakeCluster::RunUntil(const std::function<bool()>& done, int ticks) {
  for (int i = 0; i < ticks; ++i) {
    if (done()) return true;
    Tick();
  }
  return done();
}

void FakeCluster::Run(int ticks) {
  for (int i = 0; i < ticks; ++i) Tick();
}

Snapshot FakeCluster::Look() const {
  Snapshot snapshot;
  snapshot.manifest = manifest;
  snapshot.now = now_;
  snapshot.job = job_;
  snapshot.job_gone = gone_;
  snapshot.create_error = create_error_;
  for (const auto& [serial, pod] : pods_) {
    snapshot.pods.push_back(pod.view);
    if (!pod.agent_up) continue;
    snapshot.agents[serial] = {Observe(pod),
                               pod.silent ? now_ - absl::Seconds(60) : now_};
  }
  snapshot.term = term_;
  snapshot.operator_name = "operator-1";
  snapshot.agent_image = "agent:1";
  return snapshot;
}

void FakeCluster::CheckActions(const std::vector<Action>& actions) const {
  for (size_t i = 0; i < actions.size(); ++i) {
    if (std::holds_alternative<WriteStatus>(actions[i])) {
      EXPECT_EQ(i, 0) << "a status write is first and alone\n" << journal_;
    }
  }
}

void FakeCluster::Act(const std::vector<Action>& actions) {
  for (const Action& action : actions) {
    if (std::holds_alternative<RequeueAfter>(action)) continue;
    if (std::holds_alternative<StandDown>(action)) {
      ADD_FAILURE() << "nobody else has the job\n" << journal_;
    }
    absl::StrAppend(&journal_, absl::ToUnixSeconds(now_) - 1'800'000'000, " ",
                    DebugString(action), "\n");
    Do(action);
    if (std::holds_alternative<RecordEvent>(action)) continue;
    if (++actions_done_ == crash_after_) {
      absl::StrAppend(&journal_, "--- the operator dies\n");
      RestartOperator();
      return;
    }
  }
}

void FakeCluster::Do(const Action& action) {
  if (const auto* create = std::get_if<CreatePod>(&action)) {
    Create(*create);
  } else if (const auto* deletion = std::get_if<DeletePod>(&action)) {
    for (auto& [serial, pod] : pods_) {
      if (pod.view.name != deletion->name || pod.view.deletion_time) continue;
      const auto members = api::ParseSerials(job_.status.members).value();
      const bool member =
          std::find(members.begin(), members.end(), serial) != members.end();
      EXPECT_TRUE(!member || pod.view.ended() || gone_ ||
                  job_.status.phase == "Failed")
          << "a member is deleted\n"
          << journal_;
      pod.view.deletion_time =
          now_ + (deletion->grace < absl::ZeroDuration() ? absl::Seconds(120)
                                                         : deletion->grace);
    }
  } else if (const auto* write = std::get_if<WriteStatus>(&action)) {
    Write(*write);
  } else if (const auto* event = std::get_if<RecordEvent>(&action)) {
    events_.push_back(*event);
  } else if (IsCommand(action)) {
    const auto each = [&](const auto& message, const auto& command) {
      for (const AgentTarget& target : message.targets) {
        Command(target.serial, DebugString(action), command);
      }
    };
    if (const auto* m = std::get_if<SendGreet>(&action)) {
      each(*m, [&](FakePod& p) { return p.participant.Greet(m->fence); });
    } else if (const auto* m = std::get_if<SendPrepare>(&action)) {
      prepared_ = m->transition;
      each(*m, [&](FakePod& p) {
        const agent::Transition& told = m->transition;
        transition::TransitionTerms terms;
        terms.id = told.id;
        terms.generation = told.generation;
        terms.source_generation = told.source.generation;
        terms.in_source = InWorld(told.source, p.view.serial);
        terms.in_target = InWorld(told.target, p.view.serial);
        terms.prepare_deadline = told.prepare_deadline;
        terms.transfer_deadline = told.transfer_deadline;
        return p.participant.Prepare(m->fence, terms, SteadyNow());
      });
    } else if (const auto* m = std::get_if<SendArm>(&action)) {
      each(*m,
           [&](FakePod& p) { return p.participant.Arm(m->fence, m->step); });
    } else if (const auto* m = std::get_if<SendGo>(&action)) {
      each(*m,
           [&](FakePod& p) { return p.participant.Go(m->fence, SteadyNow()); });
    } else if (const auto* m = std::get_if<SendCancel>(&action)) {
      each(*m, [&](FakePod& p) { return p.participant.Cancel(m->fence); });
    } else if (const auto* m = std::get_if<SendAbort>(&action)) {
      EXPECT_TRUE(job_.status.transition->phase == "Aborted" ||
                  job_.status.transition->phase == "Superseded")
          << "Abort is told before it is durable\n"
          << journal_;
      each(*m, [&](FakePod& p) {
        return p.participant.Abort(m->fence, m->reason);
      });
    } else if (const auto* m = std::get_if<SendCommit>(&action)) {
      EXPECT_EQ(job_.status.transition->phase, "Committed")
          << "Commit is told before it is durable\n"
          << journal_;
      each(*m, [&](FakePod& p) { return p.participant.Commit(m->fence); });
    } else if (const auto* m = std::get_if<SendDismiss>(&action)) {
      each(*m, [&](FakePod& p) {
        p.dismissed = true;
        return absl::OkStatus();
      });
    }
  }
}

void FakeCluster::Command(
    uint32_t serial, const std::string& what,
    const std::function<absl::Status(FakePod&)>& command) {
  const auto it = pods_.find(serial);
  if (it == pods_.end() || !it->second.agent_up || it->second.silent ||
      it->second.view.ended()) {
    return;
  }
  const absl::Status status = command(it->second);
  if (!status.ok()) {
    absl::StrAppend(&journal_, "  ", it->second.view.name, " refuses ", what,
                    ": ", std::string(status.message()), "\n");
  }
  EXPECT_FALSE(absl::IsInvalidArgument(status)) << journal_;
}

void FakeCluster::Create(const CreatePod& create) {
  if (!create_failure.empty()) {
    create_error_ = CreateError{create_failure, now_, namespace_ends};
    return;
  }
  create_error_.reset();
  EXPECT_TRUE(used_serials_.insert(create.serial).second)
      << create.name << " is made twice\n"
      << journal_;
  EXPECT_LT(create.serial, job_.status.next_serial)
      << "a serial is used before it is taken\n"
      << journal_;
  FakePod pod(job_.spec->ranks_per_replica);
  pod.view.name = create.name;
  pod.view.serial = create.serial;
  pod.view.uid = absl::StrCat("uid-", create.serial);
  pod.process_id = 1000 + create.serial;
  pods_.emplace(create.serial, std::move(pod));
}

void FakeCluster::Write(const WriteStatus& write) {
  EXPECT_GE(write.status.operator_term, job_.status.operator_term) << journal_;
  EXPECT_GE(write.status.generation, job_.status.generation) << journal_;
  EXPECT_GE(write.status.next_serial, job_.status.next_serial) << journal_;
  // What is written must be what the next operator reads.
  const auto read = api::ParseJobStatus(api::ToJson(write.status));
  ASSERT_TRUE(read.ok()) << read.status();
  job_.status = *read;
  ++status_writes_;
  if (write.takes_term) term_ = write.status.operator_term;
}

// ---- users and accidents

void FakeCluster::Edit(const std::function<void(api::JobSpec&)>& edit) {
  edit(*job_.spec);
  ++job_.metadata.generation;
}

void FakeCluster::Scale(int replicas) {
  Edit([&](api::JobSpec& spec) { spec.replicas = replicas; });
}

void FakeCluster::Evict(uint32_t serial, absl::Duration grace) {
  pods_.at(serial).view.deletion_time = now_ + grace;
}

void FakeCluster::Kill(uint32_t serial, int exit_code) {
  End(pods_.at(serial), exit_code);
}

void FakeCluster::End(FakePod& pod, int exit_code) {
  absl::StrAppend(&journal_, "  ", pod.view.name, " ends with ", exit_code,
                  "\n");
  pod.view.phase = exit_code == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
  pod.view.exit_code = exit_code;
  pod.trains = 0;
}

// ---- the nodes

void FakeCluster::Schedule(FakePod& pod) {
  const auto placed =
      std::count_if(pods_.begin(), pods_.end(), [](const auto& entry) {
        return !entry.second.view.node.empty() && !entry.second.view.ended();
      });
  if (placed >= capacity) {
    pod.view.unschedulable = "0/1 nodes are available: 1 Insufficient cpu.";
    pod.age = 0;
    return;
  }
  pod.view.unschedulable.clear();
  pod.view.node = absl::StrCat("node-", 1 + placed % nodes);
}

void FakeCluster::MoveOn(FakePod& pod) {
  if (pod.view.ended()) return;
  ++pod.age;
  if (pod.view.node.empty() && pod.age >= kScheduled) Schedule(pod);
  if (pod.age == kStarted) {
    pod.view.phase = PodPhase::kRunning;
    pod.view.ip = absl::StrCat("10.0.0.", pod.view.serial);
    pod.view.started = now_;
  }
  if (pod.age == kAgentUp) pod.agent_up = true;
  if (pod.dismissed) return End(pod, kExitDismissed);
  if (pod.view.deletion_time && now_ >= *pod.view.deletion_time) {
    return End(pod, kExitKilled);
  }
  if (pod.view.deletion_time && !pod.agent_up) return End(pod, kExitKilled);
  if (pod.left) return End(pod, kExitLeft);
  // Its last words can be heard for a moment.
  if (pod.finished && pod.since["finished"]++ > 0) return End(pod, 0);
  if (pod.agent_up) Follow(pod);
}

// One step of the world that trains, in lock-step as collectives have it.
void FakeCluster::Train() {
  std::vector<FakePod*> members;
  for (auto& [serial, pod] : pods_) {
    if (pod.trains != 0) members.push_back(&pod);
  }
  const bool able = !members.empty() &&
                    std::none_of(members.begin(), members.end(), [](auto* pod) {
                      return pod->stopped || pod->stuck || pod->finished;
                    });
  if (!able) return;
  ++step_;
  for (FakePod* pod : members) {
    if (last_step != 0 && step_ >= last_step) {
      pod->finished = true;
      for (int rank = 0; rank < job_.spec->ranks_per_replica; ++rank) {
        pod->participant.RankFinished(rank);
      }
    }
    const auto at = static_cast<uint64_t>(step_);
    if (pod->participant.phase() >= Phase::kArmed &&
        pod->participant.phase() <= Phase::kTransferring &&
        pod->participant.armed_step() == at) {
      pod->stopped = true;
      for (int rank = 0; rank < job_.spec->ranks_per_replica; ++rank) {
        EXPECT_TRUE(pod->participant
                        .RankStopped(rank, pod->participant.generation(), at,
                                     SteadyNow())
                        .ok());
      }
    }
  }
}

// ---- agents and ranks

Participant::Time FakeCluster::SteadyNow() const {
  return Participant::Time(
      std::chrono::seconds(absl::ToUnixSeconds(now_) - 1'800'000'000));
}

void FakeCluster::Follow(FakePod& pod) {
  pod.participant.Tick(SteadyNow());
  const int ranks = job_.spec->ranks_per_replica;
  for (const RankOrder& order : pod.participant.TakeOrders()) {
    if (order.kind == RankOrder::Kind::kArm) {
      const bool ok = static_cast<uint64_t>(step_) < order.step;
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_TRUE(
            pod.participant
                .RankArmed(rank, order.generation, order.step, ok, step_)
                .ok());
      }
    } else if (order.kind == RankOrder::Kind::kCancel ||
               order.kind == RankOrder::Kind::kAbort) {
      pod.stopped = false;
    }
  }
  FollowPhase(pod);
}

void FakeCluster::FollowPhase(FakePod& pod) {
  Participant& agent = pod.participant;
  const Phase phase = agent.phase();
  const int ticks = pod.since[absl::StrCat(agent.generation(),
                                           std::string(PhaseName(phase)))]++;
  const int ranks = job_.spec->ranks_per_replica;
  const auto each = [&](const std::function<absl::Status(int)>& report) {
    for (int rank = 0; rank < ranks; ++rank) {
      const absl::Status status = report(rank);
      EXPECT_TRUE(status.ok()) << status << "\n" << journal_;
    }
  };
  if (phase == Phase::kPreparing && ticks == kPreparing) {
    if (!pod.prepare_failure.empty()) {
      EXPECT_TRUE(
          agent.RankFailed(0, agent.generation(), pod.prepare_failure).ok());
      return;
    }
    each([&](int rank) {
      return agent.RankPrepared(rank, agent.generation(),
                                absl::StrCat("plan-", agent.generation()));
    });
  } else if (phase == Phase::kTransferring &&
             AllTransferring(agent.generation())) {
    each(
        [&](int rank) { return agent.RankVerified(rank, agent.generation()); });
  } else if (phase == Phase::kCommitted) {
    pod.stopped = false;
    pod.trains = agent.terms().in_target ? agent.generation() : 0;
    pod.left = !agent.terms().in_target;
    each(
        [&](int rank) { return agent.RankReleased(rank, agent.generation()); });
  }
}

// Everybody has Go and who trained has stopped: bytes can move.
bool FakeCluster::AllTransferring(int64_t generation) const {
  return std::all_of(pods_.begin(), pods_.end(), [&](const auto& entry) {
    const FakePod& pod = entry.second;
    if (pod.view.ended() || pod.participant.generation() != generation) {
      return true;
    }
    return pod.participant.phase() >= Phase::kTransferring &&
           (pod.trains == 0 || pod.trains == generation || pod.stopped);
  });
}

agent::TransitionObservation FakeCluster::ObserveTransition(
    const FakePod& pod) const {
  const Participant& agent = pod.participant;
  agent::TransitionObservation seen;
  seen.id = agent.terms().id;
  seen.generation = agent.generation();
  seen.phase = agent.phase();
  seen.armed_step = agent.armed_step();
  seen.failure = agent.failure();
  for (int local = 0; local < job_.spec->ranks_per_replica; ++local) {
    agent::RankTransition rank;
    rank.local_rank = local;
    rank.prepared =
        seen.phase >= Phase::kPrepared && seen.phase <= Phase::kReleased;
    if (rank.prepared) {
      rank.plan_digest = absl::StrCat("plan-", agent.generation());
      rank.manifest_digest = "manifest";
      rank.mode = pod.cold ? "cold" : "warm";
      rank.new_bytes = pod.new_bytes;
      rank.minimal_bytes = 1 << 20;
      rank.bytes_received = seen.phase >= Phase::kVerified ? 1 << 20 : 0;
      rank.pause_ms = seen.phase == Phase::kReleased ? 140 : 0;
      rank.pause_parts_ms = {{"transfer", 50}, {"wait_go", 30}};
      rank.stopped = pod.stopped;
    }
    seen.ranks.push_back(rank);
  }
  return seen;
}

agent::Observation FakeCluster::Observe(const FakePod& pod) const {
  agent::Observation seen;
  seen.term = pod.participant.term();
  seen.job_uid = job_.metadata.uid;
  seen.serial = pod.view.serial;
  seen.committed_generation = pod.participant.committed_generation();
  seen.leaving = pod.view.deletion_time.has_value();
  if (seen.leaving) {
    seen.leave_deadline = absl::ToChronoMilliseconds(*pod.view.deletion_time -
                                                     absl::Seconds(3) - now_);
  }
  seen.memory_limit_bytes = pod.memory_limit_bytes;
  seen.memory_used_bytes = pod.memory_used_bytes;
  for (int local = 0; local < job_.spec->ranks_per_replica; ++local) {
    agent::RankObservation rank;
    rank.local_rank = local;
    rank.process_id = pod.process_id * 100 + local;
    rank.data_address = absl::StrCat(pod.view.ip, ":", 4000 + local);
    rank.state = pod.finished      ? agent::RankState::kFinished
                 : pod.stopped     ? agent::RankState::kStopped
                 : pod.trains != 0 ? agent::RankState::kTraining
                                   : agent::RankState::kReady;
    rank.generation = pod.trains;
    rank.step = pod.trains != 0 ? step_ : 0;
    rank.loss = 2.5;
    rank.step_age = std::chrono::seconds(1);
    seen.ranks.push_back(rank);
  }
  seen.transition = ObserveTransition(pod);
  return seen;
}

// ---- what must hold

void FakeCluster::CheckLaws() const {
  std::set<int64_t> generations;
  for (const auto& [serial, pod] : pods_) {
    if (pod.trains != 0) generations.insert(pod.trains);
  }
  // Two only while some have heard Commit and the others stand still.
  EXPECT_LE(generations.size(), 2) << journal_;
  for (const auto& [serial, pod] : pods_) {
    if (generations.size() == 2 && pod.trains == *generations.begin()) {
      EXPECT_TRUE(pod.stopped) << pod.view.name << " trains on\n" << journal_;
    }
    EXPECT_LE(pod.trains, job_.status.generation)
        << pod.view.name << " trains what was not committed\n"
        << journal_;
  }
}

bool FakeCluster::Settled(int pods) const {
  const api::JobStatus& s = job_.status;
  if (s.phase != "Running" || s.replicas != pods || s.transition->running()) {
    return false;
  }
  int training = 0;
  int others = 0;
  for (const auto& [serial, pod] : pods_) {
    if (pod.trains == s.generation && !pod.stopped) {
      ++training;
    } else if (!pod.view.ended()) {
      ++others;
    }
  }
  return training == pods && others == 0;
}

const api::Condition& FakeCluster::condition(const std::string& type) const {
  static const auto* const kNone = new api::Condition();
  for (const api::Condition& condition : job_.status.conditions) {
    if (condition.type == type) return condition;
  }
  return *kNone;
}

}  // namespace dynatrain::control
