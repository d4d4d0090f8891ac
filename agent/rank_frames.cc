#include "agent/rank_frames.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "agent/utf8.h"
#include "base/status_macros.h"

namespace dynatrain::agent {
namespace {

using api::Frame;
using nlohmann::json;
using OrderKind = transition::RankOrder::Kind;

json WorldJson(const World& world) {
  json members = json::array();
  for (const Member& member : world.members) {
    json ranks = json::array();
    for (const RankEndpoint& rank : member.ranks) {
      ranks.push_back({{"process_id", rank.process_id},
                       {"data_address", rank.data_address}});
    }
    members.push_back({{"serial", member.serial},
                       {"agent_address", member.agent_address},
                       {"node", member.node},
                       {"ranks", std::move(ranks)}});
  }
  return {{"generation", world.generation},
          {"layout", world.layout},
          {"members", std::move(members)}};
}

const char* OrderKindName(OrderKind kind) {
  switch (kind) {
    case OrderKind::kArm:
      return "arm";
    case OrderKind::kGo:
      return "go";
    case OrderKind::kCancel:
      return "cancel";
    case OrderKind::kAbort:
      return "abort";
    default:
      return "commit";
  }
}

absl::Status Wrong(const Frame& frame, absl::string_view problem) {
  return absl::InvalidArgumentError(
      absl::StrCat("frame '", frame.kind(), "': ", problem));
}

bool AllUtf8(const json& value) {
  if (value.is_string()) return IsUtf8(value.get_ref<const std::string&>());
  if (!value.is_structured()) return true;
  for (const auto& [key, part] : value.items()) {
    if (!IsUtf8(key) || !AllUtf8(part)) return false;
  }
  return true;
}

// Adds the frame's times_ms, if it has any, to `times`.
absl::Status ReadTimes(const Frame& frame,
                       std::map<std::string, double>& times) {
  if (!frame.Has("times_ms")) return absl::OkStatus();
  const json& all = frame.fields()["times_ms"];
  if (!all.is_object()) return Wrong(frame, "times_ms is no map");
  for (const auto& [name, time] : all.items()) {
    if (!time.is_number()) {
      return Wrong(frame, absl::StrCat("times_ms.", name, " is no number"));
    }
    times[name] = time.get<double>();
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ReadHash(const Frame& frame, absl::string_view name) {
  ASSIGN_OR_RETURN(const std::string text, frame.Text(name));
  uint64_t hash = 0;
  if (absl::SimpleAtoi(text, &hash)) return hash;
  return Wrong(frame, absl::StrCat(name, " is '", text,
                                   "', want a decimal number below 2^64"));
}

}  // namespace

Frame WelcomeFrame(const AgentConfig& config, int local_rank) {
  return Frame::Of({{"kind", "welcome"},
                    {"protocol", api::kRankProtocol},
                    {"job", config.job},
                    {"namespace", config.job_namespace},
                    {"serial", config.serial},
                    {"local_rank", local_rank},
                    {"ranks_per_replica", config.ranks_per_replica},
                    {"restart_text", config.restart_text}});
}

Frame PrepareFrame(const Transition& transition,
                   const ContainerMemory& memory) {
  return Frame::Of(
      {{"kind", "prepare"},
       {"transition",
        {{"id", transition.id},
         {"generation", transition.generation},
         {"source", WorldJson(transition.source)},
         {"target", WorldJson(transition.target)},
         {"manifest", transition.manifest},
         {"options",
          {{"memory_limit_bytes", memory.limit_bytes},
           {"memory_used_bytes", memory.used_bytes},
           {"seed", transition.seed},
           {"transfer_deadline_ms", transition.transfer_deadline.count()}}}}}});
}

Frame OrderFrame(const transition::RankOrder& order) {
  json fields = {{"kind", OrderKindName(order.kind)}, {"g", order.generation}};
  if (order.kind == OrderKind::kArm) fields["step"] = order.step;
  return Frame::Of(std::move(fields));
}

Frame DismissFrame(const std::string& reason) {
  return Frame::Of({{"kind", "dismiss"}, {"reason", reason}});
}

Frame StoreReplyFrame(uint64_t id, const StoreReply& reply) {
  return Frame::Of({{"kind", "store_reply"},
                    {"id", id},
                    {"ok", reply.ok},
                    {"value", api::BinaryField(reply.value)},
                    {"number", reply.number},
                    {"error", reply.error}});
}

absl::Status CheckTexts(const Frame& frame) {
  if (AllUtf8(frame.fields())) return absl::OkStatus();
  return Wrong(frame, "a text in it is not UTF-8");
}

absl::StatusOr<Hello> ReadHello(const Frame& frame, int ranks) {
  if (frame.kind() != "hello") return Wrong(frame, "the first one is 'hello'");
  ASSIGN_OR_RETURN(const uint64_t protocol, frame.Uint("protocol"));
  if (protocol != api::kRankProtocol) {
    return Wrong(frame, absl::StrCat("protocol ", protocol, ", this agent has ",
                                     api::kRankProtocol));
  }
  Hello hello;
  ASSIGN_OR_RETURN(const uint64_t rank, frame.Uint("local_rank"));
  if (rank >= static_cast<uint64_t>(ranks)) {
    return Wrong(frame, absl::StrCat("local_rank ", rank, ", there are ", ranks,
                                     " in this pod"));
  }
  hello.local_rank = static_cast<int>(rank);
  ASSIGN_OR_RETURN(hello.process_id, frame.Uint("process_id"));
  if (hello.process_id == 0) return Wrong(frame, "process_id is 0");
  ASSIGN_OR_RETURN(hello.data_address, frame.Text("data_address"));
  return hello;
}

absl::Status ReadStep(const Frame& frame, RankObservation& rank) {
  ASSIGN_OR_RETURN(rank.generation, frame.Uint("g"));
  ASSIGN_OR_RETURN(rank.step, frame.Uint("step"));
  ASSIGN_OR_RETURN(rank.samples, frame.Uint("samples"));
  ASSIGN_OR_RETURN(rank.step_ms, frame.Number("step_ms"));
  ASSIGN_OR_RETURN(rank.text, frame.Text("text"));
  rank.loss = std::numeric_limits<double>::quiet_NaN();
  if (frame.Has("loss") && !frame.fields()["loss"].is_null()) {
    ASSIGN_OR_RETURN(rank.loss, frame.Number("loss"));
  }
  return absl::OkStatus();
}

absl::Status ReadPlanned(const Frame& frame, RankTransition& rank) {
  ASSIGN_OR_RETURN(rank.plan_digest, frame.Text("plan_digest"));
  ASSIGN_OR_RETURN(rank.sent_hash, ReadHash(frame, "sent_hash"));
  ASSIGN_OR_RETURN(rank.received_hash, ReadHash(frame, "received_hash"));
  return absl::OkStatus();
}

absl::Status ReadPrepared(const Frame& frame, RankTransition& rank,
                          std::string& manifest) {
  ASSIGN_OR_RETURN(manifest, frame.Text("manifest"));
  ASSIGN_OR_RETURN(rank.manifest_digest, frame.Text("manifest_digest"));
  RETURN_IF_ERROR(ReadPlanned(frame, rank));
  ASSIGN_OR_RETURN(rank.mode, frame.Text("mode"));
  ASSIGN_OR_RETURN(rank.new_bytes, frame.Uint("new_bytes"));
  ASSIGN_OR_RETURN(rank.staging_bytes, frame.Uint("staging_bytes"));
  ASSIGN_OR_RETURN(rank.kept_bytes, frame.Uint("kept_bytes"));
  ASSIGN_OR_RETURN(rank.moved_bytes, frame.Uint("moved_bytes"));
  ASSIGN_OR_RETURN(rank.minimal_bytes, frame.Uint("minimal_bytes"));
  RETURN_IF_ERROR(ReadTimes(frame, rank.times_ms));
  rank.prepared = true;
  return absl::OkStatus();
}

absl::Status ReadVerified(const Frame& frame, RankTransition& rank) {
  ASSIGN_OR_RETURN(rank.bytes_sent, frame.Uint("bytes_sent"));
  ASSIGN_OR_RETURN(rank.bytes_received, frame.Uint("bytes_received"));
  RETURN_IF_ERROR(ReadTimes(frame, rank.pause_parts_ms));
  rank.verified = true;
  return absl::OkStatus();
}

absl::Status ReadResumed(const Frame& frame, RankTransition& rank) {
  ASSIGN_OR_RETURN(rank.pause_ms, frame.Number("pause_ms"));
  RETURN_IF_ERROR(ReadTimes(frame, rank.pause_parts_ms));
  rank.resumed = true;
  return absl::OkStatus();
}

absl::StatusOr<StoreCall> ReadStore(const Frame& frame) {
  StoreCall call;
  StoreRequest& request = call.request;
  ASSIGN_OR_RETURN(call.id, frame.Uint("id"));
  ASSIGN_OR_RETURN(request.op, frame.Text("op"));
  ASSIGN_OR_RETURN(request.generation, frame.Uint("g"));
  if (frame.Has("keys")) {
    const json& keys = frame.fields()["keys"];
    if (!keys.is_array()) return Wrong(frame, "keys is no list");
    for (const json& key : keys) {
      if (!key.is_string()) return Wrong(frame, "a key is no text");
      request.keys.push_back(key.get<std::string>());
    }
  }
  ASSIGN_OR_RETURN(request.value, frame.Bytes("value"));
  ASSIGN_OR_RETURN(request.expected, frame.Bytes("expected"));
  if (frame.Has("amount")) {
    ASSIGN_OR_RETURN(request.amount, frame.Int("amount"));
  }
  if (frame.Has("timeout_ms")) {
    ASSIGN_OR_RETURN(const int64_t timeout_ms, frame.Int("timeout_ms"));
    // On the wire between agents it has 32 bits.
    request.timeout = std::chrono::milliseconds(
        std::clamp<int64_t>(timeout_ms, 0, INT32_MAX));
  }
  return call;
}

}  // namespace dynatrain::agent
