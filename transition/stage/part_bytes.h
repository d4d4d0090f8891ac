// What each part of the lines adds to and takes from each rank's memory, and
// which parts run in one stage.
#ifndef TRANSITION_STAGE_PART_BYTES_H_
#define TRANSITION_STAGE_PART_BYTES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "transition/stage/line_cut.h"
#include "transition/stage/lines.h"

namespace dynatrain::transition {

// Of one rank in one part, or in several that run together.
struct PartBytes {
  int64_t made = 0;
  int64_t freed = 0;
  int64_t sent = 0;
  int64_t received = 0;
  int64_t relayed = 0;

  PartBytes& operator+=(const PartBytes& other);
  friend bool operator==(const PartBytes&, const PartBytes&) = default;
};

// By part, then rank.
class PartTable {
 public:
  PartTable(int num_ranks, int64_t num_parts)
      : num_ranks_(num_ranks), bytes_(num_ranks * num_parts) {}

  int num_ranks() const { return num_ranks_; }
  int64_t num_parts() const {
    return static_cast<int64_t>(bytes_.size()) / num_ranks_;
  }
  absl::Span<const PartBytes> part(int64_t part) const {
    return absl::MakeConstSpan(bytes_).subspan(part * num_ranks_, num_ranks_);
  }
  PartBytes& at(int64_t part, int rank) {
    return bytes_[part * num_ranks_ + rank];
  }

 private:
  int num_ranks_;
  std::vector<PartBytes> bytes_;
};

// Parts from cut.num_parts on are empty. REQUIRES: num_parts >= cut.num_parts.
PartTable TableOf(const Lines& lines, const LineCut& cut,
                  absl::Span<const int64_t> item_bytes, int num_ranks,
                  int64_t num_parts);

// How much memory a rank has while parts run, and may have.
struct RankRoom {
  int64_t resident_bytes = 0;  // before the first part
  int64_t allowed_bytes = 0;
  int64_t port_staging_bytes = 0;  // StageOptions
  int64_t dead_bytes = 0;
  bool frees = false;  // tight: what is freed may be used again

  // What is asked of the allocator for packing and unpacking.
  int64_t StagingBytes(const PartBytes& bytes) const;
  // While `bytes` are in flight.
  int64_t PeakBytes(const PartBytes& bytes) const {
    return resident_bytes + bytes.made + bytes.relayed + StagingBytes(bytes);
  }
  void Finish(const PartBytes& bytes) {
    resident_bytes += bytes.made - (frees ? bytes.freed : 0);
  }
};

// Ends of stages, ascending, the last is num_parts: as many parts run together
// as the rooms allow; a part that they don't allow runs alone.
std::vector<int64_t> JoinParts(const PartTable& table,
                               std::vector<RankRoom> rooms);

// By stage of those ends, then rank.
std::vector<std::vector<PartBytes>> StageSums(const PartTable& table,
                                              absl::Span<const int64_t> ends);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_PART_BYTES_H_
