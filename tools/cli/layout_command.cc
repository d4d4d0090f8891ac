#include "tools/cli/layout_command.h"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "api/layout_file/layout_file.h"
#include "api/listing/json_codec.h"
#include "tools/cli/layout_tables.h"
#include "tools/cli/load.h"
#include "tools/cli/picture/picture.h"
#include "tools/cli/selection.h"
#include "vps/layout/listing/comparison.h"
#include "vps/layout/listing/list_rank.h"

namespace dynatrain::cli {
namespace {

using api::LoadedLayout;

// Listing or drawing a very large world has to be meant.
absl::Status CheckRanks(const LoadedLayout& loaded, const Selection& selection,
                        absl::string_view what) {
  const int world = loaded.layout.world_size();
  if (selection.ranks.has_value() || world <= kMostRanks) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "--output: ", what, " of all ", world,
      " ranks is long; say which with --rank (0-7,64), or --rank all"));
}

vps::RankListing ListSelected(const LoadedLayout& loaded,
                              const Selection& selection, int rank) {
  return selection.all_tensors ? vps::ListRank(loaded.layout, loaded.live, rank)
                               : vps::ListRank(loaded.layout, loaded.live, rank,
                                               selection.tensors);
}

ExitCode PrintListing(const LoadedLayout& loaded, const Selection& selection,
                      const Streams& streams) {
  const absl::Status status = CheckRanks(loaded, selection, "a listing");
  if (!status.ok()) return streams.Fail(kBadUsage, status);
  const auto write = [&](absl::string_view text) { streams.out << text; };
  api::ListingEncoder encoder(
      {loaded.framework, loaded.framework_version, loaded.layout.world_size()},
      write);
  for (int rank : selection.RanksOf(loaded.layout)) {
    if (!streams.out.good()) break;  // nobody reads on
    encoder.Add(ListSelected(loaded, selection, rank));
  }
  encoder.Finish();
  return kDone;
}

ExitCode PrintPicture(const LoadedLayout& loaded, const Selection& selection,
                      const CommandLine& line, const Streams& streams) {
  const absl::Status status = CheckRanks(loaded, selection, "a picture");
  if (!status.ok()) return streams.Fail(kBadUsage, status);
  // States lie over one another in a picture, so it is of one of them.
  const std::string state = line.Get(
      "state",
      StatesOf(loaded.layout).empty() ? "" : StatesOf(loaded.layout).front());
  std::vector<int> tensors;
  for (int tensor : selection.tensors) {
    if (loaded.layout.tensor(tensor).state() == state) {
      tensors.push_back(tensor);
    }
  }
  streams.out << Picture(loaded, state, selection.RanksOf(loaded.layout),
                         tensors);
  return kDone;
}

ExitCode PrintTables(const LoadedLayout& loaded, const Selection& selection,
                     const Streams& streams) {
  const vps::Layout& layout = loaded.layout;
  streams.out << HeadText(loaded);
  if (selection.ranks.has_value()) {
    for (int rank : *selection.ranks) {
      if (!streams.out.good()) break;
      streams.out << "\n"
                  << HoldingsTable(
                         loaded, rank,
                         selection.all_tensors ? nullptr : &selection.tensors);
    }
    return kDone;
  }
  if (!selection.all_tensors) {
    for (int tensor : selection.tensors) {
      if (!streams.out.good()) break;
      streams.out << "\n" << OwnersText(layout, tensor);
    }
    return kDone;
  }
  streams.out << "\n";
  if (layout.world_size() <= kMostTableRanks) {
    streams.out << RankTable(layout, selection.RanksOf(layout));
    return kDone;
  }
  streams.out << "The first rank of each pipeline stage; --rank shows others.\n"
              << RankTable(layout, FirstRanksOfStages(layout));
  return kDone;
}

ExitCode PrintDifference(const LoadedLayout& loaded, const Selection& selection,
                         const CommandLine& line, const Streams& streams) {
  const std::string live_path = line.Get("diff"), path = line.arguments[0];
  const absl::StatusOr<vps::Listing> live = LoadListing(live_path, streams.in);
  if (!live.ok()) return streams.Fail(kBadInput, live.status());
  vps::ListingComparison comparison(path, live_path);
  comparison.AddWorld(
      *vps::Listing::Create(loaded.framework, loaded.framework_version,
                            loaded.layout.world_size(), {}),
      *live);
  for (int rank : selection.RanksOf(loaded.layout)) {
    const vps::RankListing* other = live->Find(rank);
    comparison.AddRank(ListSelected(loaded, selection, rank), other);
  }
  if (!comparison.equal()) {
    streams.out << comparison.Text();
    return kDiffers;
  }
  streams.out << "no difference: " << comparison.tensors_compared()
              << " tensors on " << comparison.ranks_compared() << " ranks\n";
  return kDone;
}

}  // namespace

ExitCode RunLayout(const CommandLine& line, const Streams& streams) {
  if (line.arguments[0] == "-" && line.Get("diff") == "-") {
    return streams.Fail(
        kBadUsage,
        absl::InvalidArgumentError(
            "FILE and --diff are both standard input, which can be read once; "
            "give one of them as a file"));
  }
  const absl::StatusOr<LoadedLayout> loaded =
      Load(line.arguments[0], streams.in);
  if (!loaded.ok()) return streams.Fail(kBadInput, loaded.status());
  const absl::StatusOr<Selection> selection = Select(loaded->layout, line);
  if (!selection.ok()) return streams.Fail(kBadUsage, selection.status());
  if (line.Has("diff")) {
    return PrintDifference(*loaded, *selection, line, streams);
  }
  const std::string output = line.Get("output", "table");
  if (output == "json") return PrintListing(*loaded, *selection, streams);
  if (output == "svg") return PrintPicture(*loaded, *selection, line, streams);
  return PrintTables(*loaded, *selection, streams);
}

}  // namespace dynatrain::cli
