#include "transition/schedule/plan_runs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/types/span.h"
#include "transition/plan/route.h"
#include "vps/geometry/box.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

// Bytes in the memory of a rank. Memories are compared, not addressed: a buffer
// of the layout, or what one copy of a tensor has to itself.
struct Place {
  int buffer = 0;
  int tensor = 0;  // -1 in a buffer of several
  int copy = 0;
  vps::StridedRun run;

  // Where contiguous bytes end.
  auto End() const {
    return std::tuple(buffer, tensor, copy, run.offset_bytes + run.inner_bytes);
  }
  auto Begin() const {
    return std::tuple(buffer, tensor, copy, run.offset_bytes);
  }
};

// Finds places of one side's regions; routes come tensor by tensor.
class Memory {
 public:
  explicit Memory(const vps::Layout& layout) : layout_(layout) {}

  Place Find(int rank, int tensor, int copy, const vps::Box& region) {
    if (rank != rank_ || tensor != tensor_) Load(rank, tensor);
    const auto own = std::find_if(
        regions_.begin(), regions_.end(), [&](const vps::OwnedRegion& it) {
          return it.copy == copy && it.global.Contains(region);
        });
    // A plan has only what its ranks hold.
    return PlaceOf(*own, rank, region);
  }

 private:
  void Load(int rank, int tensor) {
    rank_ = rank;
    tensor_ = tensor;
    regions_.clear();
    layout_.ForEachRegionOf(rank, tensor, [&](const vps::OwnedRegion& it) {
      regions_.push_back(it);
    });
  }

  Place PlaceOf(const vps::OwnedRegion& own, int rank,
                const vps::Box& region) const {
    const int64_t item_bytes = layout_.tensor(own.tensor).item_bytes();
    vps::Strides strides = own.strides;
    for (int64_t& stride : strides) stride *= item_bytes;
    Place place = {
        .buffer = layout_.BufferOf(rank, own.tensor, own.copy),
        .tensor = own.tensor,
        .copy = own.copy,
        .run = vps::RunOf(region.RelativeTo(own.global.origin()),
                          absl::MakeConstSpan(strides).first(region.dims()),
                          item_bytes)};
    place.run.offset_bytes += own.offset * item_bytes;
    if (place.buffer != vps::Storage::kOwnTensor) {
      place.tensor = place.copy = -1;
      place.run.offset_bytes +=
          layout_.BufferOffset(rank, own.tensor, own.copy) * item_bytes;
    }
    return place;
  }

  const vps::Layout& layout_;
  int rank_ = -1;
  int tensor_ = -1;
  std::vector<vps::OwnedRegion> regions_;
};

RunClass ClassOf(const Place& source, const Place& target) {
  if (source.run.contiguous()) {
    return target.run.contiguous() ? RunClass::kContiguous
                                   : RunClass::kStridedTarget;
  }
  return target.run.contiguous() ? RunClass::kStridedSource
                                 : RunClass::kStridedBoth;
}

class Counter {
 public:
  explicit Counter(const PlanInput& input)
      : input_(input),
        source_(input.source().layout()),
        target_(input.target().layout()) {}

  template <typename Routes>
  RunTable Count(const Routes& routes) {
    RunTable table;
    Place last_source;
    Place last_target;
    bool follows = false;  // whether the last one may go on
    for (const Route& route : routes) {
      Place source =
          source_.Find(route.source_rank, input_.SourceTensor(route.tensor),
                       route.source_copy, route.region);
      Place target = target_.Find(route.target_rank, route.tensor,
                                  route.target_copy, route.region);
      const RunClass run_class = ClassOf(source, target);
      RunCounts& counts = table[run_class];
      const bool contiguous = run_class == RunClass::kContiguous;
      const bool joins = follows && contiguous &&
                         source.Begin() == last_source.End() &&
                         target.Begin() == last_target.End();
      ++counts.regions;
      counts.bytes += source.run.num_bytes();
      if (!joins) {
        ++counts.descriptors;
        counts.source_rows += source.run.num_runs();
        counts.target_rows += target.run.num_runs();
      }
      follows = contiguous;
      last_source = std::move(source);
      last_target = std::move(target);
    }
    return table;
  }

 private:
  const PlanInput& input_;
  Memory source_;
  Memory target_;
};

}  // namespace

absl::string_view RunClassName(RunClass run_class) {
  switch (run_class) {
    case RunClass::kContiguous:
      return "contiguous";
    case RunClass::kStridedSource:
      return "strided source";
    case RunClass::kStridedTarget:
      return "strided target";
    case RunClass::kStridedBoth:
      return "strided both";
  }
  return "unknown";
}

RunCounts& RunCounts::operator+=(const RunCounts& other) {
  regions += other.regions;
  descriptors += other.descriptors;
  bytes += other.bytes;
  source_rows += other.source_rows;
  target_rows += other.target_rows;
  return *this;
}

RunCounts RunTable::total() const {
  RunCounts sum;
  for (const RunCounts& it : classes) sum += it;
  return sum;
}

RunTable& RunTable::operator+=(const RunTable& other) {
  for (size_t i = 0; i < classes.size(); ++i) classes[i] += other.classes[i];
  return *this;
}

PlanRuns RunsOf(const PlanInput& input, const ProcessPlan& plan) {
  PlanRuns runs;
  if (input.source().empty()) return runs;
  Counter counter(input);
  std::vector<Route> copied;
  for (const LocalRoute& local : plan.local) {
    if (!local.adopted) copied.push_back(local.route);
  }
  runs.local = counter.Count(copied);
  for (const PeerExchange& peer : plan.peers) {
    runs.peers.push_back(
        {peer.peer, counter.Count(peer.send), counter.Count(peer.receive)});
    runs.send += runs.peers.back().send;
    runs.receive += runs.peers.back().receive;
  }
  return runs;
}

}  // namespace dynatrain::transition
