#include "agent/runtime/transfer_call.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "base/deadline.h"
#include "base/status_macros.h"

namespace dynatrain::runtime {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;
using Word = Orders::Word;

// A commit takes milliseconds; an operator that is away is worth a line.
constexpr std::chrono::seconds kQuietDoubt{5};

}  // namespace

TransferCall::TransferCall(ProcessTransition& transition, Orders& orders,
                           Send send)
    : transition_(transition),
      orders_(orders),
      send_(std::move(send)),
      generation_(transition.order().generation),
      lap_(Clock::now()),
      report_({{"failure", ""},
               {"kept_by", ""},
               {"bytes_sent", 0},
               {"bytes_received", 0},
               {"bytes_copied", 0},
               {"times_ms", json::object()}}) {}

void TransferCall::Lap(const char* name) {
  const Clock::time_point now = Clock::now();
  report_["times_ms"][name] =
      std::chrono::duration<double, std::milli>(now - lap_).count();
  lap_ = now;
}

absl::StatusOr<TransferOutcome> TransferCall::Keep(const char* by) {
  report_["kept_by"] = by;
  return TransferOutcome{false, std::move(report_)};
}

absl::StatusOr<TransferOutcome> TransferCall::Fail(absl::string_view stage,
                                                   const absl::Status& why) {
  // What stands behind it may be the end of the session.
  RETURN_IF_ERROR(orders_.Alive());
  report_["failure"] = std::string(why.message());
  RETURN_IF_ERROR(send_({{"kind", "failed"},
                         {"g", generation_},
                         {"stage", std::string(stage)},
                         {"reason", std::string(why.message())}}));
  // All should go back together. It can't be committed without this rank's
  // `verified`, so if no word comes the old world is safe to go on, too.
  const absl::StatusOr<Word> word = orders_.WaitForOutcome(
      generation_, Deadline::After(transition_.order().transfer_deadline));
  RETURN_IF_ERROR(orders_.Alive());
  orders_.TakenBack(generation_);
  transition_.Release();
  return Keep("failure");
}

absl::StatusOr<Word> TransferCall::WaitInDoubt() {
  // The job may or may not be in the new generation by now, so no time may end
  // this wait; but people should be able to see it.
  absl::StatusOr<Word> word =
      orders_.WaitForOutcome(generation_, Deadline::After(kQuietDoubt));
  if (!absl::IsDeadlineExceeded(word.status())) return word;
  fprintf(stderr,
          "dynatrain: generation=%llu in doubt: verified, and waits to be told "
          "commit or abort\n",
          static_cast<unsigned long long>(generation_));
  return orders_.WaitForOutcome(generation_, Deadline::Never());
}

absl::StatusOr<TransferOutcome> TransferCall::MoveAndWait(
    const Orders::Cancellation& cancel) {
  const auto moved = transition_.Run(
      Deadline::After(transition_.order().transfer_deadline), cancel);
  if (!moved.ok() || !orders_.Verified(generation_)) {
    RETURN_IF_ERROR(orders_.Alive());
    if (orders_.TakenBack(generation_).has_value()) {
      // A cancel that comes this late leaves nothing to try again with.
      transition_.Release();
      return Keep("abort");
    }
    return Fail("transfer", moved.status());
  }
  report_["bytes_sent"] = moved->bytes_sent;
  report_["bytes_received"] = moved->bytes_received;
  report_["bytes_copied"] = moved->bytes_copied;
  report_["times_ms"]["transfer"] = moved->transfer_ms;
  report_["times_ms"]["verify"] = moved->verify_ms;
  lap_ = Clock::now();
  RETURN_IF_ERROR(send_({{"kind", "verified"},
                         {"g", generation_},
                         {"bytes_sent", moved->bytes_sent},
                         {"bytes_received", moved->bytes_received},
                         {"times_ms", report_["times_ms"]}}));
  ASSIGN_OR_RETURN(const Word outcome, WaitInDoubt());
  Lap("commit");
  transition_.Release();
  if (outcome == Word::kAbort) return Keep("abort");
  return TransferOutcome{true, std::move(report_)};
}

absl::StatusOr<TransferOutcome> TransferCall::Run() {
  ASSIGN_OR_RETURN(const std::optional<uint64_t> stopped_step,
                   orders_.BeginTransfer(generation_));
  const auto cancel = orders_.cancellation(generation_);
  // A joiner holds nobody up: it waits until the others are ready, or abort.
  Deadline deadline = Deadline::Never();
  if (stopped_step.has_value()) {
    deadline = Deadline::After(transition_.order().transfer_deadline);
    RETURN_IF_ERROR(send_(
        {{"kind", "stopped"}, {"g", generation_}, {"step", *stopped_step}}));
  }
  const absl::StatusOr<Word> word = orders_.WaitForGo(generation_, deadline);
  Lap("wait_go");
  if (absl::IsDeadlineExceeded(word.status())) {
    return Fail("wait_go", word.status());
  }
  RETURN_IF_ERROR(word.status());
  if (*word == Word::kGo) return MoveAndWait(*cancel);
  if (*word == Word::kCancel) return Keep("cancel");
  transition_.Release();
  return Keep("abort");
}

}  // namespace dynatrain::runtime
