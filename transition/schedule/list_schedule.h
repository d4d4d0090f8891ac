// The list schedule: for skewed traffic, an order whose makespan in the port
// model is within `slack` of the lower bound. Always, not only on average:
//
//   makespan <= (1 + slack_ppm / 10^6) x PortBound, in whole units.
//
// Time runs from 0 to a horizon that is the bound plus the slack. Ports that
// come free are matched greedily, those with most left first. A port that has
// no slack left (what it still has to do fills the time to the horizon) must
// work without a pause from then on; if no free port can serve it, an
// augmenting path rearranges the running transfers so that all such ports work.
// By Hall's theorem there is one: 0003-schedule has the proof. It is Gonzalez
// and Sahni's preemptive open shop (JACM 23(4), 1976) made lazy: nothing
// is preempted until a port has no slack, so parcels are long and few (at most
// flows + preemptions), where cutting everything into equal pieces makes
// hundreds per port and promises nothing.
//
// All in integers and in one order, so every rank that computes it gets the
// same. It is global, made from the whole Traffic while preparing.
#ifndef TRANSITION_SCHEDULE_LIST_SCHEDULE_H_
#define TRANSITION_SCHEDULE_LIST_SCHEDULE_H_

#include <cstdint>
#include <vector>

#include "transition/schedule/port_map.h"
#include "transition/schedule/schedule.h"
#include "transition/schedule/traffic.h"

namespace dynatrain::transition {

struct ListOptions {
  // More slack, fewer preemptions. 0 is exact: the makespan is the bound.
  int64_t slack_ppm = 10'000;
  // Parcels begin at multiples of this within their flow, so that elements are
  // not cut and copies are aligned.
  int64_t unit_bytes = 512;

  friend bool operator==(const ListOptions&, const ListOptions&) = default;
};

// A parcel that occupies its two ports during [begin, end), in units.
struct TimedParcel {
  Parcel parcel;
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const TimedParcel&, const TimedParcel&) = default;
};

struct ListSchedule {
  // By begin, then end, sender, receiver: an order that agrees with that of
  // each port.
  std::vector<TimedParcel> parcels;
  int64_t unit_bytes = 1;
  int64_t makespan_units = 0;
  // Transfers that were interrupted for a port without slack.
  int64_t num_preemptions = 0;
};

// REQUIRES: traffic.num_ranks() <= ports.num_ranks(); slack_ppm in [0, 10^6],
// unit_bytes >= 1.
ListSchedule MakeListSchedule(const Traffic& traffic, const PortMap& ports,
                              const ListOptions& options = {});

// With a port of its own for each rank.
ListSchedule MakeListSchedule(const Traffic& traffic,
                              const ListOptions& options = {});

// The order alone, to be followed with credits.
Schedule OrderOf(const ListSchedule& list);

struct WindowOptions {
  // Of one rank in one window; at least 2.
  int max_operations = 256;
  // That one port sends in one window, and that it receives.
  int64_t max_port_bytes = int64_t{256} << 20;

  friend bool operator==(const WindowOptions&, const WindowOptions&) = default;
};

// Cut for grouped transports, at common virtual times: what goes in [t, t') by
// the list schedule is one window, closed since both ends of a parcel use the
// same times. A parcel that spans a cut is cut; pieces of one pair in one
// window are one parcel. Windows are halved until no rank has too many
// operations, which ends: a rank has two per unit of time at most.
// REQUIRES: options in range.
Schedule CutIntoWindows(const ListSchedule& list, const WindowOptions& options);

}  // namespace dynatrain::transition

#endif  // TRANSITION_SCHEDULE_LIST_SCHEDULE_H_
