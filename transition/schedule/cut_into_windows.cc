#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "transition/schedule/list_schedule.h"

namespace dynatrain::transition {
namespace {

// The part of `it` in [begin, end), which must overlap it.
TimedParcel Part(const TimedParcel& it, int64_t begin, int64_t end,
                 int64_t unit_bytes) {
  begin = std::max(begin, it.begin);
  end = std::min(end, it.end);
  Parcel part = it.parcel;
  part.offset_bytes += (begin - it.begin) * unit_bytes;
  // The last unit of a flow may be a partial one.
  part.bytes =
      std::min((end - begin) * unit_bytes,
               it.parcel.offset_bytes + it.parcel.bytes - part.offset_bytes);
  return {part, begin, end};
}

class Cutter {
 public:
  Cutter(int64_t unit_bytes, int max_operations)
      : unit_bytes_(unit_bytes), max_operations_(max_operations) {}

  // Appends what `parcels`, all within [begin, end), do as windows.
  void Append(const std::vector<TimedParcel>& parcels, int64_t begin,
              int64_t end) {
    if (parcels.empty()) return;
    std::vector<Parcel> merged = Merge(parcels);
    if (MostOperations(merged) <= max_operations_) {
      schedule_.window_begins.push_back(schedule_.parcels.size());
      schedule_.parcels.insert(schedule_.parcels.end(), merged.begin(),
                               merged.end());
      return;
    }
    const int64_t middle = begin + (end - begin) / 2;
    Append(Within(parcels, begin, middle), begin, middle);
    Append(Within(parcels, middle, end), middle, end);
  }

  Schedule Take() && { return std::move(schedule_); }

 private:
  std::vector<TimedParcel> Within(const std::vector<TimedParcel>& parcels,
                                  int64_t begin, int64_t end) const {
    std::vector<TimedParcel> parts;
    for (const TimedParcel& it : parcels) {
      if (it.begin < end && it.end > begin) {
        parts.push_back(Part(it, begin, end, unit_bytes_));
      }
    }
    return parts;
  }

  // One parcel per pair, ascending. The parts of a pair follow each other in
  // its stream, since all of it in between is in the window too.
  static std::vector<Parcel> Merge(const std::vector<TimedParcel>& parcels) {
    std::vector<Parcel> merged;
    merged.reserve(parcels.size());
    for (const TimedParcel& it : parcels) merged.push_back(it.parcel);
    std::sort(merged.begin(), merged.end());
    size_t last = 0;
    for (size_t i = 1; i < merged.size(); ++i) {
      if (merged[i].sender == merged[last].sender &&
          merged[i].receiver == merged[last].receiver) {
        merged[last].bytes += merged[i].bytes;
      } else {
        merged[++last] = merged[i];
      }
    }
    merged.resize(last + 1);
    return merged;
  }

  static int MostOperations(const std::vector<Parcel>& parcels) {
    absl::flat_hash_map<int, int> operations;
    int most = 0;
    for (const Parcel& parcel : parcels) {
      most = std::max(most, ++operations[parcel.sender]);
      most = std::max(most, ++operations[parcel.receiver]);
    }
    return most;
  }

  const int64_t unit_bytes_;
  const int max_operations_;
  Schedule schedule_;
};

}  // namespace

Schedule CutIntoWindows(const ListSchedule& list,
                        const WindowOptions& options) {
  const int64_t length =
      std::max<int64_t>(1, options.max_port_bytes / list.unit_bytes);
  Cutter cutter(list.unit_bytes, options.max_operations);
  std::vector<TimedParcel> window;  // parts that begin before `end`
  std::vector<TimedParcel> later;   // the rests of those that end after it
  size_t next = 0;
  for (int64_t begin = 0; begin < list.makespan_units; begin += length) {
    const int64_t end = begin + length;
    window.clear();
    std::swap(window, later);
    while (next < list.parcels.size() && list.parcels[next].begin < end) {
      window.push_back(list.parcels[next++]);
    }
    for (TimedParcel& it : window) {
      if (it.end <= end) continue;
      later.push_back(Part(it, end, it.end, list.unit_bytes));
      it = Part(it, begin, end, list.unit_bytes);
    }
    cutter.Append(window, begin, end);
  }
  return std::move(cutter).Take();
}

}  // namespace dynatrain::transition
