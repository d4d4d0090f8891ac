// A rank process without Python: what the Python package does with the C ABI,
// over tensors whose values are known. It stays when it leaves a world, so that
// one set of processes serves many transitions.
//
//   rank_main <libdynatrain.so>    (DYNATRAIN_* in the environment)
//
// Beyond what the package reports, `resumed`, `left` and the texts of `step`
// carry "check": "" or what is wrong with this process's state.
#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/runtime/ordered_world.h"
#include "api/manifest/json_codec.h"
#include "api/rank/transition_order.h"
#include "tests/runtime/library.h"
#include "transition/engine/tensor_state_testutil.h"
#include "transition/plan/world.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;
using transition::TensorState;
using transition::World;

// Entries of a folder of /proc/self, or a number in its status.
int CountEntries(const char* folder) {
  int n = 0;
  DIR* dir = opendir(folder);
  while (readdir(dir) != nullptr) ++n;
  closedir(dir);
  return n;
}

int64_t ResidentKiB() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

// A world in which this process has a rank.
struct LiveWorld {
  uint64_t generation = 0;
  uint64_t step = 0;
  TensorState state;
};

struct Coming {
  uint64_t generation = 0;
  bool first_start = false;
  bool in_target = false;
  json summary;
  TensorState state;  // the target's
};

class RankProcess {
 public:
  explicit RankProcess(const char* library) : dt_(library), random_(getpid()) {
    char* welcome = nullptr;
    Check(dt_.open("{}", &session_, &welcome));
    dt_.TakeJson(welcome);
  }

  void Run() {
    std::thread trainer([this] { Train(); });
    while (true) {
      char* text = nullptr;
      Check(dt_.next(session_, -1, &text));
      const json instruction = dt_.TakeJson(text);
      const std::string kind = instruction.at("kind");
      if (kind == "prepare") Prepare(instruction.at("transition"));
      if (kind == "abort") Abort(instruction.at("g"));
      // The trainer sees it at its next boundary, if there is one.
      if (kind == "dismiss") _exit(87);
    }
  }

 private:
  void Check(int code) {
    if (code == DT_OK) return;
    fprintf(stderr, "rank_main: %d: %s\n", code, dt_.error());
    _exit(code == DT_LOST ? 3 : 4);
  }

  void Report(const json& frame) {
    Check(dt_.report(session_, frame.dump().c_str()));
  }

  void Fail(uint64_t generation, const char* stage) {
    Report({{"kind", "failed"},
            {"g", generation},
            {"stage", stage},
            {"reason", dt_.error()}});
  }

  int BindAll(uint64_t generation, int side, TensorState& state,
              const json& wanted) {
    int code = DT_OK;
    size_t bound = 0;
    state.ForEachTensor([&](int tensor, int copy, std::byte* data,
                            absl::Span<const int64_t> shape,
                            absl::Span<const int64_t> strides_bytes) {
      if (bound == wanted.size() || copy != 0 ||
          wanted[bound].at("index") != tensor) {
        return;  // nothing of it is held here
      }
      ++bound;
      const int result = dt_.bind(session_, generation, side, tensor, data,
                                  static_cast<int>(shape.size()), shape.data(),
                                  strides_bytes.data());
      if (result != DT_OK) code = result;
    });
    return bound == wanted.size() ? code : DT_INVALID;
  }

  // Plans, allocates and binds; the ranks of the source world are met by the
  // trainer, the others wait for the transfer here.
  void Prepare(const json& transition) {
    const api::TransitionOrder order =
        api::ReadTransitionOrder(transition).value();
    auto coming = std::make_unique<Coming>();
    coming->generation = order.generation;
    coming->first_start = order.source.members.empty();
    const std::string manifest =
        transition.value("test_manifest", order.manifest);
    char* summary = nullptr;
    if (dt_.plan(session_, transition.dump().c_str(), manifest.c_str(),
                 &summary) != DT_OK) {
      return Fail(order.generation, "plan");
    }
    coming->summary = dt_.TakeJson(summary);
    const World target =
        MakeWorld(order.target, api::DecodeManifest(manifest).value()).value();
    const int rank = coming->summary.at("target_rank");
    coming->in_target = rank >= 0;
    coming->state = TensorState::Allocate(target, rank, random_);
    if (coming->first_start) coming->state.FillWithValues();
    if (!coming->first_start &&
        BindAll(order.generation, DT_TARGET, coming->state,
                coming->summary.at("targets")) != DT_OK) {
      return Fail(order.generation, "bind");
    }
    const bool in_source = coming->summary.at("source_rank") >= 0;
    json prepared = {{"kind", "prepared"},   {"g", order.generation},
                     {"manifest", manifest}, {"mode", "warm"},
                     {"new_bytes", 0},       {"times_ms", json::object()}};
    if (in_source) {
      std::lock_guard lock(mutex_);
      coming_ = std::move(coming);
      Report(prepared);
      return;
    }
    Report(prepared);
    std::thread([this, joining = std::shared_ptr<Coming>(std::move(coming))] {
      Join(*joining);
    }).detach();
  }

  void Abort(uint64_t generation) {
    std::lock_guard lock(mutex_);
    aborted_ = generation;
    if (coming_ != nullptr && coming_->generation == generation) {
      coming_.reset();
    }
    dt_.drop(session_, generation);
  }

  void Join(Coming& coming) {
    int outcome = 0;
    char* report = nullptr;
    const int code =
        dt_.transfer(session_, coming.generation, &outcome, &report);
    if (code == DT_OK) {
      const json told = dt_.TakeJson(report);
      if (outcome == DT_COMMITTED) return Switch(coming, told, 0);
    }
    dt_.drop(session_, coming.generation);
  }

  std::string GetBlob(uint64_t generation, const char* key) {
    void* bytes = nullptr;
    size_t len = 0;
    Check(dt_.get_blob(session_, generation, key, &bytes, &len));
    return dt_.TakeBytes(bytes, len);
  }

  // Makes the new world the live one and says what it found in it.
  void Switch(Coming& coming, const json& report, uint64_t step) {
    const uint64_t generation = coming.generation;
    std::string check = coming.state.FirstWrongElement();
    if (coming.in_target && !coming.first_start) {
      const std::string common = GetBlob(generation, "common");
      if (common.empty()) check += " no common blob";
      step = strtoull(common.c_str(), nullptr, 10);
    }
    Check(dt_.drop(session_, generation));
    json frame = {{"kind", coming.in_target ? "resumed" : "left"},
                  {"g", generation},
                  {"step", step},
                  {"pause_ms", 0},
                  {"check", check},
                  {"report", report},
                  {"times_ms",
                   {{"threads", CountEntries("/proc/self/task")},
                    {"fds", CountEntries("/proc/self/fd")},
                    {"rss_kib", ResidentKiB()}}}};
    std::lock_guard lock(mutex_);
    live_.reset();
    if (coming.in_target) {
      live_ = std::make_unique<LiveWorld>(
          LiveWorld{generation, step, std::move(coming.state)});
    }
    Report(frame);
  }

  void Train() {
    while (true) {
      // The step.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::unique_lock lock(mutex_);
      if (live_ == nullptr) continue;
      ++live_->step;
      Report({{"kind", "step"},
              {"g", live_->generation},
              {"step", live_->step},
              {"loss", nullptr},
              {"samples", live_->step},
              {"step_ms", 1.0},
              {"text", text_}});
      int action = 0;
      Check(dt_.boundary(session_, live_->generation, live_->step, &action));
      if (action == DT_STOP && coming_ != nullptr) {
        const std::unique_ptr<Coming> coming = std::move(coming_);
        lock.unlock();
        Stop(*coming);
      }
    }
  }

  void Stop(Coming& coming) {
    const uint64_t generation = coming.generation;
    if (BindAll(generation, DT_SOURCE, live_->state,
                coming.summary.at("sources")) != DT_OK) {
      return Fail(generation, "bind");
    }
    const auto before = live_->state.memory();
    const std::string step = absl::StrCat(live_->step);
    Check(
        dt_.put_blob(session_, generation, "common", step.data(), step.size()));
    Check(dt_.put_blob(session_, generation, "coordinate", "rng", 3));
    int outcome = 0;
    char* report = nullptr;
    Check(dt_.transfer(session_, generation, &outcome, &report));
    const json told = dt_.TakeJson(report);
    if (outcome == DT_COMMITTED) {
      if (live_->state.memory() != before) {
        fprintf(stderr, "rank_main: the source was written to\n");
        _exit(5);
      }
      return Switch(coming, told, live_->step);
    }
    const std::string wrong = live_->state.memory() == before
                                  ? live_->state.FirstWrongElement()
                                  : "the source was written to";
    std::lock_guard lock(mutex_);
    text_ = json({{"kept", generation},
                  {"failure", told.at("failure")},
                  {"check", wrong}})
                .dump();
    if (told.at("kept_by") == "cancel" && aborted_ != generation) {
      coming_ = std::make_unique<Coming>(std::move(coming));
    } else {
      dt_.drop(session_, generation);
    }
  }

  Library dt_;
  dt_session* session_ = nullptr;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::unique_ptr<LiveWorld> live_;  // of the trainer, or under the lock
  std::unique_ptr<Coming> coming_;
  uint64_t aborted_ = 0;  // the last one
  std::string text_;
};

}  // namespace
}  // namespace dynatrain::runtime

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  dynatrain::runtime::RankProcess(argv[1]).Run();
}
