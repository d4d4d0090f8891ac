#include "transition/schedule/program_makespan.h"

#include <map>
#include <vector>

#include "transition/schedule/port_map.h"
#include "transition/schedule/port_model.h"
#include "transition/schedule/schedule.h"

namespace dynatrain::transition {

int64_t ProgramMakespan(absl::Span<const Program> programs) {
  // What is sent, by channel and window.
  std::map<int, std::map<int, std::vector<Parcel>>> channels;
  for (const Program& program : programs) {
    std::map<int, int> window;  // that is open, by lane
    for (const Operation& it : program.operations) {
      if (it.kind == OperationKind::kGroupBegin) window[it.lane] = it.window;
      if (it.kind != OperationKind::kSend) continue;
      channels[it.channel][window.at(it.lane)].push_back(
          {.sender = program.rank, .receiver = it.peer, .bytes = it.bytes});
    }
  }
  int64_t makespan = 0;
  for (const auto& [channel, windows] : channels) {
    Schedule schedule;
    for (const auto& [number, window] : windows) schedule.AddWindow(window);
    makespan += WindowedMakespan(
        schedule, PortMap::Own(static_cast<int>(programs.size())));
  }
  return makespan;
}

}  // namespace dynatrain::transition
