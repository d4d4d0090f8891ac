#include "tools/cli/picture/trace.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "api/json/reader.h"
#include "tools/cli/picture/collective_levels.h"
#include "transition/preview/timeline.h"

namespace dynatrain::cli {
namespace {

using transition::ClusterModel;
using transition::CollectiveTime;
using transition::Lane;
using transition::LaneTimeline;
using transition::LaneTransfer;
using transition::Preview;
using transition::TransferTime;

// Of a group's peers, so many are listed.
constexpr size_t kMostPeers = 16;

std::string Quoted(absl::string_view text) {
  return api::DumpJson(nlohmann::json(std::string(text)));
}

// Exact: nanoseconds are thousandths.
std::string Microseconds(int64_t ns) {
  return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000);
}

// One port in one direction.
struct Track {
  int node;
  int thread;
  std::string name;
  friend auto operator<=>(const Track&, const Track&) = default;
};

// What goes through a port at once.
struct Group {
  int64_t bytes = 0;
  int64_t num_parcels = 0;
  int64_t passed_on = 0;  // of those
  std::set<int> peers;
};

class Writer {
 public:
  Writer(const Preview& preview,
         absl::FunctionRef<void(absl::string_view)> write)
      : preview_(preview), write_(write) {}

  void Write(absl::string_view title) {
    write_(absl::StrCat(
        "{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"plan\": ",
        Quoted(title), ", \"cluster\": ",
        Quoted(preview_.cluster.DebugString()), ", \"transfer_us\": \"",
        Microseconds(preview_.transfer_ns), "\"},\n\"traceEvents\": [\n"));
    const std::vector<LaneTimeline> timelines = TimelinesOf(preview_);
    for (const LaneTimeline& timeline : timelines) NameTracks(timeline);
    AddCollectives(timelines.front().collectives);
    for (const LaneTimeline& timeline : timelines) {
      AddGroups(timeline);
      if (!timeline.grouped) AddTransfers(timeline);
    }
    write_("\n]}\n");
  }

 private:
  void Add(const std::string& event) {
    write_(first_ ? "" : ",\n");
    write_(event);
    first_ = false;
  }

  // Threads stand by lane, port and direction.
  Track TrackOf(Lane lane, int rank, bool out) const {
    const ClusterModel& cluster = preview_.cluster;
    const int ports = cluster.num_ports(lane) / cluster.figures().num_nodes;
    const int port = cluster.PortOf(lane, rank) % ports;
    const int node = cluster.NodeOf(rank);
    const bool shared = ports != cluster.figures().ranks_per_node;
    const int first =
        lane == Lane::kInside ? 0 : 2 * cluster.figures().ranks_per_node;
    return {.node = node,
            .thread = first + 2 * port + (out ? 0 : 1),
            .name = absl::StrCat(
                transition::LaneName(lane), shared ? " NIC " : " rank ",
                shared ? port : node * cluster.figures().ranks_per_node + port,
                out ? " sends" : " receives")};
  }

  void NameTracks(const LaneTimeline& timeline) {
    std::set<Track> tracks;
    for (const TransferTime& it : timeline.transfers) {
      tracks.insert(TrackOf(timeline.lane, it.parcel.sender, true));
      tracks.insert(TrackOf(timeline.lane, it.parcel.receiver, false));
    }
    const auto metadata = [&](absl::string_view name, const Track& track,
                              const std::string& argument) {
      Add(absl::StrCat("{\"ph\": \"M\", \"name\": \"", name,
                       "\", \"pid\": ", track.node, ", \"tid\": ", track.thread,
                       ", \"args\": {", argument, "}}"));
    };
    for (const Track& track : tracks) {
      if (named_nodes_.insert(track.node).second) {
        metadata("process_name", track,
                 absl::StrCat("\"name\": \"node ", track.node, "\""));
        metadata("process_sort_index", track,
                 absl::StrCat("\"sort_index\": ", track.node));
      }
      metadata("thread_name", track,
               absl::StrCat("\"name\": ", Quoted(track.name)));
      metadata("thread_sort_index", track,
               absl::StrCat("\"sort_index\": ", track.thread));
    }
  }

  // A process behind the nodes, with a thread for each of those at a time.
  void AddCollectives(const std::vector<CollectiveTime>& collectives) {
    const std::vector<int> levels = LevelsOf(collectives);
    const int process = preview_.cluster.figures().num_nodes;
    if (!collectives.empty()) {
      Add(absl::StrCat(
          "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": ", process,
          ", \"tid\": 0, \"args\": {\"name\": "
          "\"collectives\"}}"));
    }
    for (size_t i = 0; i < collectives.size(); ++i) {
      const CollectiveTime& it = collectives[i];
      AddComplete({.node = process, .thread = levels[i]}, it.name, it.begin,
                  it.end, absl::StrCat("\"collective\": ", i + 1),
                  "collective");
    }
  }

  void AddComplete(const Track& track, const std::string& name, int64_t begin,
                   int64_t end, const std::string& arguments,
                   absl::string_view category = "transfer") {
    Add(absl::StrCat("{\"ph\": \"X\", \"name\": ", Quoted(name),
                     ", \"cat\": \"", category, "\", \"pid\": ", track.node,
                     ", \"tid\": ", track.thread,
                     ", \"ts\": ", Microseconds(begin),
                     ", \"dur\": ", Microseconds(end - begin), ", \"args\": {",
                     arguments, "}}"));
  }

  // Those that go one after the other at each port.
  void AddTransfers(const LaneTimeline& timeline) {
    for (const LaneTransfer& it : timeline.transfers) {
      if (it.collective >= 0) continue;
      const std::string arguments =
          absl::StrCat("\"sender\": ", it.parcel.sender,
                       ", \"receiver\": ", it.parcel.receiver,
                       ", \"bytes\": ", it.parcel.bytes,
                       ", \"offset_bytes\": ", it.parcel.offset_bytes);
      AddComplete(TrackOf(timeline.lane, it.parcel.sender, true),
                  absl::StrCat("to rank ", it.parcel.receiver), it.begin,
                  it.end, arguments);
      AddComplete(TrackOf(timeline.lane, it.parcel.receiver, false),
                  absl::StrCat("from rank ", it.parcel.sender), it.begin,
                  it.end, arguments);
    }
  }

  // Parcels of a port that begin together are one event: those of a thread must
  // not overlap. Windows of collectives are groups whatever the rest is.
  void AddGroups(const LaneTimeline& timeline) {
    std::map<std::tuple<Track, int64_t, int64_t, int>, Group> groups;
    for (const LaneTransfer& it : timeline.transfers) {
      if (it.collective < 0 && !timeline.grouped) continue;
      for (bool out : {true, false}) {
        const int rank = out ? it.parcel.sender : it.parcel.receiver;
        Group& group = groups[{TrackOf(timeline.lane, rank, out), it.begin,
                               it.end, it.collective}];
        group.passed_on += it.passed_on;
        group.bytes += it.parcel.bytes;
        ++group.num_parcels;
        group.peers.insert(out ? it.parcel.receiver : it.parcel.sender);
      }
    }
    for (const auto& [key, group] : groups) {
      const auto& [track, begin, end, collective] = key;
      std::vector<int> peers(group.peers.begin(), group.peers.end());
      if (peers.size() > kMostPeers) peers.resize(kMostPeers);
      const std::string parcels = absl::StrCat(
          group.num_parcels, group.num_parcels == 1 ? " parcel" : " parcels");
      std::string arguments = absl::StrCat(
          "\"parcels\": ", group.num_parcels, ", \"bytes\": ", group.bytes,
          ", \"num_peers\": ", group.peers.size(), ", \"peers\": [",
          absl::StrJoin(peers, ", "), "]");
      if (collective < 0) {
        AddComplete(track, absl::StrCat("group of ", parcels), begin, end,
                    arguments);
        continue;
      }
      absl::StrAppend(&arguments, ", \"collective\": ", collective + 1,
                      ", \"passed_on\": ", group.passed_on);
      AddComplete(
          track,
          absl::StrCat(timeline.collectives[collective].name, ", ", parcels,
                       group.passed_on > 0 ? " passed on" : ""),
          begin, end, arguments, "collective");
    }
  }

  const Preview& preview_;
  const absl::FunctionRef<void(absl::string_view)> write_;
  bool first_ = true;
  std::set<int> named_nodes_;
};

}  // namespace

void WriteTrace(absl::string_view title, const Preview& preview,
                absl::FunctionRef<void(absl::string_view)> write) {
  Writer(preview, write).Write(title);
}

}  // namespace dynatrain::cli
