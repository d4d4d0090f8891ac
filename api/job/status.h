// What the operator has seen and decided: the status of an ElasticTrainingJob.
//
// It is all that an operator remembers: killed at any point, the next one goes
// on from here. Strings are made for people, because printer columns and
// `kubectl describe` show fields as they are; fields that the operator reads
// back say so.
#ifndef API_JOB_STATUS_H_
#define API_JOB_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace dynatrain::api {

// metav1.Condition. Order in the list is that of first appearance.
struct Condition {
  std::string type;
  bool status = false;
  std::string reason;  // CamelCase
  std::string message;
  int64_t observed_generation = 0;
  absl::Time last_transition = absl::UnixEpoch();

  bool operator==(const Condition&) const = default;
};

struct LayoutStatus {
  std::string text;    // "dp2,tp2,pp1"; read back
  std::string reason;  // why this one
  int world_size = 0;

  bool operator==(const LayoutStatus&) const = default;
};

// The transition that runs, or the last one. Read back as a whole.
struct TransitionStatus {
  std::string id;
  int64_t generation = 0;  // of the target world
  std::string cause;       // "scale-up", "drain", …
  std::string from;        // layout texts; "" in the first start
  std::string to;
  std::string reason;        // why `to`, becomes layout.reason
  std::string from_members;  // serials as ranges, rank order
  std::string to_members;
  // Planned, Draining, Committed (running); Released, Aborted, Superseded.
  std::string phase;
  std::string plan_digest;  // "" before Draining
  absl::Time start_time = absl::UnixEpoch();
  absl::Time phase_time = absl::UnixEpoch();
  std::string message;

  bool running() const {
    return phase == "Planned" || phase == "Draining" || phase == "Committed";
  }
  bool operator==(const TransitionStatus&) const = default;
};

struct HistoryEntry {
  int64_t generation = 0;
  std::string cause;
  std::string outcome;  // Released, Aborted, Superseded
  std::string from;
  std::string to;
  int64_t moved_bytes = 0;    // counted by the transports
  int64_t minimal_bytes = 0;  // lower bound
  int64_t transfer_ms = 0;    // longest of the ranks
  int64_t pause_ms = 0;       // longest of the ranks
  absl::Time time = absl::UnixEpoch();
  std::string summary;

  bool operator==(const HistoryEntry&) const = default;
};

// A transition that failed is not tried again before `after`, unless what is
// wished for has changed.
struct RetryStatus {
  std::string target;  // layout and members that failed
  int attempts = 0;
  absl::Time after = absl::UnixEpoch();
  std::string reason;

  bool operator==(const RetryStatus&) const = default;
};

// Pods that died by themselves since the last commit.
struct PodFailures {
  int count = 0;
  int64_t serial = 0;  // of the newest one counted
  absl::Time last = absl::UnixEpoch();
  std::string message;

  bool operator==(const PodFailures&) const = default;
};

struct JobStatus {
  int64_t observed_generation = 0;
  // Pending, Starting, Running, Resizing, Suspended, Complete, Failed.
  std::string phase;
  std::string reason;  // what is worth knowing just now; "" if all is well

  int replicas = 0;               // pods of the committed generation
  int target_replicas = 0;        // the last wish that a layout exists for
  std::string ready;              // "2/3"
  std::string selector;           // label selector of the pods, for HPA
  std::string feasible_replicas;  // "1, 2, 3, 4, 6"

  int64_t generation = 0;  // of the world that runs
  LayoutStatus layout;
  std::string members;  // serials in rank order as ranges: "0-2,5"; read back
  std::string manifest_digest;
  int64_t step = 0;
  std::string loss;                              // as the program printed it
  absl::Time progress_time = absl::UnixEpoch();  // of step and loss

  int64_t next_serial = 0;
  uint64_t operator_term = 0;
  std::string agent_image;
  // Pods below this serial belong to an earlier start of the job.
  int64_t first_serial = 0;
  int restarts = 0;  // from `init`, after state was lost

  std::optional<TransitionStatus> transition;
  std::vector<HistoryEntry> history;  // newest last, at most kMaxHistory
  std::optional<RetryStatus> retry;
  std::optional<PodFailures> pod_failures;
  std::vector<Condition> conditions;

  static constexpr int kMaxHistory = 10;

  bool operator==(const JobStatus&) const = default;
};

}  // namespace dynatrain::api

#endif  // API_JOB_STATUS_H_
