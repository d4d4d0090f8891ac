#include "operator/driver/job_runtime.h"

#include <chrono>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "operator/kube/log_text.h"
#include "spdlog/spdlog.h"

namespace dynatrain::control {
namespace {

constexpr std::chrono::seconds kFetchDeadline{2};
constexpr absl::Duration kFetchPause = absl::Seconds(1);

}  // namespace

std::string JobRuntime::AddressOf(const PodView& pod) const {
  const bool v6 = absl::StrContains(pod.ip, ':');
  return v6 ? absl::StrCat("[", pod.ip, "]:", agent_port_)
            : absl::StrCat(pod.ip, ":", agent_port_);
}

void JobRuntime::Connect(const std::vector<PodView>& pods) {
  std::set<uint32_t> wanted;
  for (const PodView& pod : pods) {
    if (pod.ip.empty() || !pod.started.has_value() || pod.ended()) continue;
    wanted.insert(pod.serial);
    std::unique_ptr<AgentLink>& link = links_[pod.serial];
    const std::string address = AddressOf(pod);
    if (link != nullptr && link->identity().address == address) continue;
    link = nullptr;
    absl::StatusOr<std::unique_ptr<agent::AgentApi>> api =
        factory_(address, key_);
    if (!api.ok()) {
      spdlog::error("msg=\"no agent client\" pod={} error=\"{}\"", pod.name,
                    LogText(api.status()));
      continue;
    }
    link = std::make_unique<AgentLink>(AgentIdentity{uid_, pod.serial, address},
                                       *std::move(api), events_);
  }
  std::erase_if(links_, [&](const auto& entry) {
    return entry.second == nullptr || !wanted.contains(entry.first);
  });
}

AgentLink* JobRuntime::Link(uint32_t serial, const std::string& address) const {
  const auto it = links_.find(serial);
  if (it == links_.end() || it->second->identity().address != address) {
    return nullptr;
  }
  return it->second.get();
}

std::map<uint32_t, AgentSeen> JobRuntime::Observations() const {
  std::map<uint32_t, AgentSeen> observations;
  for (const auto& [serial, link] : links_) {
    if (std::optional<AgentSeen> seen = link->last()) {
      observations.emplace(serial, *std::move(seen));
    }
  }
  return observations;
}

absl::StatusOr<std::string> JobRuntime::Manifest(const std::string& digest) {
  if (digest.empty()) return std::string();
  if (digest == manifest_digest_) return manifest_;
  const absl::Time now = absl::Now();
  absl::Status last = absl::UnavailableError(
      absl::StrCat("no agent has said that it has manifest ", digest));
  if (now < next_fetch_) return last;
  for (const auto& [serial, link] : links_) {
    const std::optional<AgentSeen> seen = link->last();
    if (!seen.has_value() || seen->observation.manifest_digest != digest) {
      continue;
    }
    next_fetch_ = now + kFetchPause;
    absl::StatusOr<agent::Manifest> manifest =
        link->GetManifest(Deadline::After(kFetchDeadline));
    if (manifest.ok() && manifest->digest == digest) {
      manifest_digest_ = digest;
      manifest_ = std::move(manifest->json);
      return manifest_;
    }
    last = absl::UnavailableError(
        absl::StrCat("agent ", serial, " did not give manifest ", digest, ": ",
                     manifest.ok() ? absl::StrCat("it gave ", manifest->digest)
                                   : manifest.status().ToString()));
  }
  return last;
}

}  // namespace dynatrain::control
