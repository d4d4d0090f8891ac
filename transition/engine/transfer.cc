#include "transition/engine/transfer.h"

#include <poll.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "transition/device/run_copy.h"
#include "transition/engine/in_stream.h"
#include "transition/engine/local_copies.h"
#include "transition/engine/out_stream.h"
#include "transition/engine/verifier.h"

namespace dynatrain::transition {
namespace {

using Clock = std::chrono::steady_clock;

// Looks at all links without finding anything before the thread sleeps: the
// other end of a ring answers within microseconds, a sleep costs some 10.
constexpr int kIdleRounds = 64;

double MillisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin)
      .count();
}

struct Peer {
  uint64_t process_id = 0;
  Link* link = nullptr;
  uint64_t sent_before = 0;
  uint64_t received_before = 0;
  const PeerExchange* exchange = nullptr;
  std::unique_ptr<OutStream> out;
  std::unique_ptr<InStream> in;

  bool done() const { return out->done() && in->done(); }
};

class Transfer {
 public:
  Transfer(const TransferInput& input, Deadline deadline,
           const Cancellation& cancel)
      : input_(input),
        deadline_(deadline),
        cancel_(cancel),
        verifier_(*input.plan_input) {}

  absl::Status Bind();
  absl::StatusOr<TransferReport> Run();

 private:
  absl::Status BindPeer(const PeerExchange& exchange);
  absl::Status BindLocal();
  absl::Status ZeroPadding();
  absl::StatusOr<std::vector<RegionMemory>> Regions(const RouteList& routes,
                                                    BindingSide side) const;
  std::string BlobOf(BlobKind kind) const;

  absl::StatusOr<bool> AdvancePeers();
  absl::Status Advance(Peer& peer, bool* progress);
  absl::Status CheckTime() const;
  void Wait();
  bool MovedAll() const;
  std::string Progress() const;
  TransferReport Report() const;

  const TransferInput& input_;
  const Deadline deadline_;
  const Cancellation& cancel_;
  Verifier verifier_;
  std::vector<Peer> peers_;
  std::unique_ptr<LocalCopies> local_;
  std::vector<pollfd> fds_;
};

std::string Transfer::BlobOf(BlobKind kind) const {
  const auto blob = input_.blobs.find(kind);
  return blob == input_.blobs.end() ? "" : blob->second;
}

absl::StatusOr<std::vector<RegionMemory>> Transfer::Regions(
    const RouteList& routes, BindingSide side) const {
  const Bindings* bindings =
      side == BindingSide::kSource ? input_.source : input_.target;
  std::vector<RegionMemory> regions;
  regions.reserve(routes.size());
  for (const Route& route : routes) {
    ASSIGN_OR_RETURN(RegionMemory region, bindings->Find(route));
    regions.push_back(std::move(region));
  }
  return regions;
}

absl::Status Transfer::BindPeer(const PeerExchange& exchange) {
  const auto link = input_.links->find(exchange.peer.id);
  if (link == input_.links->end()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "there is no link to process ", absl::Hex(exchange.peer.id)));
  }
  Peer peer;
  peer.process_id = exchange.peer.id;
  peer.link = link->second.get();
  peer.sent_before = peer.link->bytes_sent();
  peer.received_before = peer.link->bytes_received();
  peer.exchange = &exchange;
  std::vector<std::string> blobs;
  for (const BlobRoute& route : exchange.send_blobs) {
    blobs.push_back(BlobOf(route.kind));
  }
  ASSIGN_OR_RETURN(auto sources, Regions(exchange.send, BindingSide::kSource));
  ASSIGN_OR_RETURN(auto targets,
                   Regions(exchange.receive, BindingSide::kTarget));
  peer.out = std::make_unique<OutStream>(std::move(sources), std::move(blobs),
                                         peer.link);
  peer.in = std::make_unique<InStream>(exchange.receive, std::move(targets),
                                       exchange.receive_blobs.size(), peer.link,
                                       &verifier_, input_.hooks);
  peers_.push_back(std::move(peer));
  return absl::OkStatus();
}

absl::Status Transfer::BindLocal() {
  std::vector<LocalCopy> copies;
  for (const LocalRoute& local : input_.plan->local) {
    const Route& route = local.route;
    ASSIGN_OR_RETURN(RegionMemory source, input_.source->Find(route));
    ASSIGN_OR_RETURN(RegionMemory target, input_.target->Find(route));
    copies.push_back({route, std::move(source), std::move(target)});
  }
  local_ = std::make_unique<LocalCopies>(std::move(copies), &verifier_,
                                         input_.hooks);
  return absl::OkStatus();
}

absl::Status Transfer::ZeroPadding() {
  for (const ZeroRegion& zero : input_.plan->zeros) {
    ASSIGN_OR_RETURN(RegionMemory region, input_.target->Find(zero));
    FillWithZero(region.view());
  }
  return absl::OkStatus();
}

absl::Status Transfer::Bind() {
  for (const PeerExchange& exchange : input_.plan->peers) {
    RETURN_IF_ERROR(BindPeer(exchange));
  }
  RETURN_IF_ERROR(BindLocal());
  return ZeroPadding();
}

absl::Status Transfer::Advance(Peer& peer, bool* progress) {
  if (peer.done()) return absl::OkStatus();
  if (input_.hooks != nullptr && input_.hooks->before_peer &&
      !input_.hooks->before_peer(peer.process_id,
                                 peer.link->bytes_sent() - peer.sent_before)) {
    return absl::OkStatus();
  }
  // Receiving first: it is what lets the peer go on.
  ASSIGN_OR_RETURN(const bool received, peer.in->Advance());
  ASSIGN_OR_RETURN(const bool sent, peer.out->Advance());
  *progress |= received || sent;
  return absl::OkStatus();
}

absl::StatusOr<bool> Transfer::AdvancePeers() {
  bool progress = false;
  for (Peer& peer : peers_) {
    RETURN_IF_ERROR(Advance(peer, &progress),
                    absl::StrCat("after ", peer.in->bytes_done(), " of ",
                                 peer.in->bytes_total(), " bytes from and ",
                                 peer.out->bytes_done(), " of ",
                                 peer.out->bytes_total(), " to it"));
  }
  return progress;
}

std::string Transfer::Progress() const {
  std::string text;
  for (const Peer& peer : peers_) {
    if (peer.done()) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", peer.link->peer(), ": ",
                    peer.in->bytes_done(), " of ", peer.in->bytes_total(),
                    " bytes received, ", peer.out->bytes_done(), " of ",
                    peer.out->bytes_total(), " sent");
  }
  return text.empty() ? "all bytes have moved" : text;
}

absl::Status Transfer::CheckTime() const {
  RETURN_IF_ERROR(cancel_.status());
  if (!deadline_.Passed()) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat("the transfer's deadline passed; ", Progress()));
}

bool Transfer::MovedAll() const {
  for (const Peer& peer : peers_) {
    if (!peer.done()) return false;
  }
  return local_->done();
}

void Transfer::Wait() {
  fds_.clear();
  fds_.push_back({cancel_.fd(), POLLIN, 0});
  bool ready = false;
  for (Peer& peer : peers_) {
    if (peer.done()) continue;
    ready |= peer.link->PrepareToWait(!peer.out->done(), &fds_);
  }
  if (!ready) poll(fds_.data(), fds_.size(), deadline_.PollTimeoutMs());
  for (Peer& peer : peers_) {
    if (!peer.done()) peer.link->FinishWaiting();
  }
}

TransferReport Transfer::Report() const {
  TransferReport report;
  report.bytes_copied = local_->bytes_copied();
  for (const BlobRoute& route : input_.plan->local_blobs) {
    report.blobs[route.kind] = BlobOf(route.kind);
  }
  for (const Peer& peer : peers_) {
    report.bytes_sent += peer.link->bytes_sent() - peer.sent_before;
    report.bytes_received += peer.link->bytes_received() - peer.received_before;
    for (size_t i = 0; i < peer.in->blobs().size(); ++i) {
      report.blobs[peer.exchange->receive_blobs[i].kind] = peer.in->blobs()[i];
    }
  }
  return report;
}

absl::StatusOr<TransferReport> Transfer::Run() {
  const Clock::time_point begin = Clock::now();
  for (int idle = 0; !MovedAll();) {
    RETURN_IF_ERROR(CheckTime());
    ASSIGN_OR_RETURN(const bool progress, AdvancePeers());
    // Copies and digests fill the time in which no link can go on.
    if (progress || local_->Step() || verifier_.Step()) {
      idle = 0;
    } else if (++idle > kIdleRounds) {
      Wait();
    }
  }
  const double transfer_ms = MillisecondsSince(begin);
  while (verifier_.Step()) RETURN_IF_ERROR(CheckTime());
  RETURN_IF_ERROR(verifier_.Compare());
  TransferReport report = Report();
  report.transfer_ms = transfer_ms;
  report.verify_ms = MillisecondsSince(begin) - transfer_ms;
  return report;
}

}  // namespace

absl::StatusOr<TransferReport> RunTransfer(const TransferInput& input,
                                           Deadline deadline,
                                           const Cancellation& cancel) {
  Transfer transfer(input, deadline, cancel);
  RETURN_IF_ERROR(transfer.Bind());
  return transfer.Run();
}

}  // namespace dynatrain::transition
