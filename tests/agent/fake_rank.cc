// A rank process without PyTorch: speaks the frames of api/rank as the runtime
// does, "trains" by counting, and misbehaves as FAKE_RANK says. That is a list
// of WHAT[@LOCAL_RANK]:
//   fail_prepare   answers prepare with failed
//   no_verify      never says verified
//   no_verify_later  ... but in its first world
//   no_arm_answer  never answers arm
//   refuse_arm     refuses every arm
//   nonsense       answers prepare with verified
//   garbage        writes bytes that are no frame after hello
//   huge           announces a frame beyond the limit after hello
//   bad_plan       has another plan than others, and so is never prepared
//   late_store     asks for a store key after commit
//   finish=N       exhausts its data after N steps
//   die=N          is killed after N steps
// It logs "event ..." lines for the test to read.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/rank/frame.h"
#include "api/rank/frame_channel.h"

namespace dynatrain {
namespace {

using api::Frame;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kStep{2};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

class FakeRank {
 public:
  FakeRank()
      : local_rank_(std::atoi(Variable("DYNATRAIN_LOCAL_RANK").c_str())) {
    for (const std::string& entry :
         std::vector<std::string>(absl::StrSplit(Variable("FAKE_RANK"), ','))) {
      const std::vector<std::string> parts = absl::StrSplit(entry, '@');
      if (parts.size() == 1 || parts[1] == absl::StrCat(local_rank_)) {
        tricks_.push_back(parts[0]);
      }
    }
    process_id_ = (uint64_t{1} << 63) | static_cast<uint64_t>(getpid());
  }

  int Run() {
    auto channel = api::FrameChannel::Connect(
        Variable("DYNATRAIN_SOCKET"), Deadline::After(milliseconds(10000)));
    if (!channel.ok()) return Complain(channel.status());
    channel_ = *std::move(channel);
    Send({{"kind", "hello"},
          {"protocol", api::kRankProtocol},
          {"local_rank", local_rank_},
          {"pid", getpid()},
          {"process_id", process_id_},
          {"data_address", absl::StrCat("127.0.0.1:", 1000 + local_rank_)},
          {"runtime_version", "fake"}});
    if (Has("garbage")) SendRaw({"\x03\x00\x00\x00\xff\xff\xff", 7});
    if (Has("huge")) SendRaw("\xff\xff\xff\x7f");
    while (!exit_) {
      const bool steps = world_ > 0 && !Stopped();
      auto frame = Next(steps ? Deadline::After(kStep) : Deadline::Never());
      if (frame.ok()) {
        Handle(*frame);
      } else if (absl::IsDeadlineExceeded(frame.status())) {
        Step();
      } else {
        return Complain(frame.status());
      }
    }
    return *exit_;
  }

 private:
  bool Has(const std::string& trick) const {
    for (const std::string& t : tricks_) {
      if (t == trick) return true;
    }
    return false;
  }
  std::optional<uint64_t> Number(const std::string& trick) const {
    uint64_t value = 0;
    for (const std::string& t : tricks_) {
      if (t.rfind(trick + "=", 0) == 0 &&
          absl::SimpleAtoi(t.substr(trick.size() + 1), &value)) {
        return value;
      }
    }
    return std::nullopt;
  }
  static int Complain(const absl::Status& status) {
    std::printf("event lost %s\n", status.ToString().c_str());
    return 3;
  }
  void Event(const std::string& text) {
    std::printf("event %s\n", text.c_str());
    std::fflush(stdout);
  }

  void Send(json fields) {
    const absl::Status status =
        channel_->Send(Frame::Of(std::move(fields)), Deadline::Never());
    if (!status.ok()) exit_ = Complain(status);
  }
  void SendRaw(absl::string_view bytes) {
    // The channel sends only frames: write past it, to its socket, which is the
    // only one of this process.
    for (int fd = 3; fd < 64; ++fd) {
      sockaddr_un peer{};
      socklen_t size = sizeof(peer);
      if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0) {
        if (write(fd, bytes.data(), bytes.size()) < 0) std::abort();
      }
    }
  }
  absl::StatusOr<Frame> Next(Deadline deadline) {
    if (!held_.empty()) {
      Frame frame = std::move(held_.front());
      held_.pop_front();
      return frame;
    }
    return channel_->Receive(deadline);
  }

  bool Stopped() const { return armed_ && step_ >= *armed_; }

  void Step() {
    ++step_;
    Send({{"kind", "step"},
          {"g", world_},
          {"step", step_},
          {"loss", 1.0 / static_cast<double>(step_)},
          {"samples", step_ * 8},
          {"step_ms", 2.0},
          {"text", absl::StrCat("step ", step_)}});
    if (resuming_) {
      resuming_ = false;
      Send({{"kind", "resumed"},
            {"g", world_},
            {"step", step_},
            {"pause_ms", 5.0},
            {"times_ms", {{"first_step", 2.0}}}});
    }
    if (Number("die") == step_) raise(SIGKILL);
    if (Number("finish") == step_) {
      Send({{"kind", "finished"}, {"step", step_}});
      exit_ = 0;
      return;
    }
    if (Stopped()) Stop();
  }

  void Stop() {
    Send({{"kind", "stopped"}, {"g", next_}, {"step", step_}});
    stopped_said_ = true;
    if (went_) Verify();
  }

  void Verify() {
    if (Has("no_verify") || (Has("no_verify_later") && in_source_)) return;
    Send({{"kind", "verified"},
          {"g", next_},
          {"bytes_sent", 100},
          {"bytes_received", 100},
          {"times_ms", {{"transfer", 1.0}}}});
  }

  // Calls the store and waits for the reply; other frames are held back.
  json Store(json fields) {
    const uint64_t id = ++store_id_;
    fields.update(
        {{"kind", "store"}, {"id", id}, {"g", next_}, {"timeout_ms", 20000}});
    Send(std::move(fields));
    return StoreReply(id);
  }
  json StoreReply(uint64_t id) {
    for (auto held = held_.begin(); held != held_.end(); ++held) {
      if (held->kind() != "store_reply" || *held->Uint("id") != id) continue;
      json reply = held->fields();
      held_.erase(held);
      return reply;
    }
    while (true) {
      auto frame = channel_->Receive(Deadline::After(milliseconds(30000)));
      if (!frame.ok()) {
        exit_ = Complain(frame.status());
        return {{"ok", false}, {"number", 0}, {"error", "lost"}};
      }
      if (frame->kind() == "store_reply" && *frame->Uint("id") == id) {
        return frame->fields();
      }
      held_.push_back(*std::move(frame));
    }
  }

  // All ranks of the next world meet in the store. While a `get` waits, a `set`
  // of the same rank passes.
  bool Meet(const json& target) {
    size_t ranks = 0;
    for (const json& member : target["members"]) {
      ranks += member["ranks"].size();
    }
    const uint64_t waiting = ++store_id_;
    Send({{"kind", "store"},
          {"id", waiting},
          {"op", "get"},
          {"g", next_},
          {"keys", {"all here"}},
          {"timeout_ms", 20000}});
    const json count =
        Store({{"op", "add"}, {"keys", {"here"}}, {"amount", 1}});
    if (count["number"].get<size_t>() == ranks) {
      Store({{"op", "set"},
             {"keys", {"all here"}},
             {"value", api::BinaryField("yes")}});
    }
    return StoreReply(waiting)["ok"].get<bool>();
  }

  void Prepare(const json& transition) {
    next_ = transition["generation"];
    in_source_ = IsIn(transition["source"]);
    in_target_ = IsIn(transition["target"]);
    went_ = stopped_said_ = false;
    armed_.reset();
    if (Has("nonsense")) {
      Send({{"kind", "verified"},
            {"g", next_},
            {"bytes_sent", 0},
            {"bytes_received", 0}});
      return;
    }
    if (Has("fail_prepare")) {
      Send({{"kind", "failed"},
            {"g", next_},
            {"stage", "plan"},
            {"reason", "tensor w has another shape"}});
      return;
    }
    if (in_target_ && !Meet(transition["target"])) {
      Event("store failed");
      return;
    }
    const bool bad_plan = Has("bad_plan");
    const std::string plan =
        bad_plan ? "mine/to-22222222" : absl::StrCat("p", next_);
    Send({{"kind", "planned"},
          {"g", next_},
          {"plan_digest", plan},
          {"sent_hash", "7"},
          {"received_hash", "7"}});
    if (bad_plan) return;  // its links never come
    Send({{"kind", "prepared"},
          {"g", next_},
          {"manifest", R"({"version":1,"tensors":[]})"},
          {"manifest_digest", "m1"},
          {"plan_digest", plan},
          {"sent_hash", "7"},
          {"received_hash", "7"},
          {"mode", "warm"},
          {"new_bytes", 10},
          {"staging_bytes", 1},
          {"kept_bytes", 5},
          {"moved_bytes", 5},
          {"minimal_bytes", 5},
          {"times_ms", {{"groups", 3.0}}}});
  }

  bool IsIn(const json& world) const {
    for (const json& member : world["members"]) {
      for (const json& rank : member["ranks"]) {
        if (rank["process_id"] == process_id_) return true;
      }
    }
    return false;
  }

  void Handle(const Frame& frame) {
    const std::string& kind = frame.kind();
    if (kind == "prepare") {
      Prepare(frame.fields()["transition"]);
    } else if (kind == "arm") {
      Arm(*frame.Uint("step"));
    } else if (kind == "go") {
      went_ = true;
      if (!in_source_ || stopped_said_) Verify();
    } else if (kind == "cancel") {
      armed_.reset();
      stopped_said_ = false;
    } else if (kind == "abort") {
      Event(absl::StrCat("abort ", next_));
      armed_.reset();
      next_ = 0;
    } else if (kind == "commit") {
      Commit();
    } else if (kind == "dismiss") {
      Event("dismissed");
      exit_ = 87;
    }
  }

  void Arm(uint64_t step) {
    if (Has("no_arm_answer")) return;
    const bool ok = step_ < step && !Has("refuse_arm");
    if (ok) armed_ = step;
    Send({{"kind", "armed"},
          {"g", next_},
          {"step", step},
          {"ok", ok},
          {"seen", step_}});
  }

  void Commit() {
    if (Has("late_store")) {
      Event(absl::StrCat("late store: ",
                         Store({{"op", "get"}, {"keys", {"here"}}})["error"]
                             .get<std::string>()));
    }
    armed_.reset();
    if (!in_target_) {
      Send({{"kind", "left"}, {"g", next_}});
      exit_ = 86;
      return;
    }
    world_ = next_;
    resuming_ = true;
  }

  const int local_rank_;
  std::vector<std::string> tricks_;
  uint64_t process_id_ = 0;
  std::unique_ptr<api::FrameChannel> channel_;
  std::deque<Frame> held_;
  uint64_t store_id_ = 0;
  std::optional<int> exit_;
  uint64_t world_ = 0;  // committed
  uint64_t next_ = 0;
  bool in_source_ = false;
  bool in_target_ = false;
  bool went_ = false;
  bool stopped_said_ = false;
  bool resuming_ = false;
  uint64_t step_ = 0;
  std::optional<uint64_t> armed_;
};

}  // namespace
}  // namespace dynatrain

int main() { return dynatrain::FakeRank().Run(); }
