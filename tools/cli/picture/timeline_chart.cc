#include "tools/cli/picture/timeline_chart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/picture/collective_strip.h"
#include "tools/cli/picture/palette.h"
#include "tools/cli/picture/port_rows.h"
#include "tools/cli/text_table.h"

namespace dynatrain::cli {
namespace {

using transition::Lane;
using transition::LaneTimeline;
using transition::LaneTransfer;
using transition::Preview;
using transition::TransferTime;

// The same in all charts, so that times stand below one another.
constexpr double kWidth = kTimeWidth;
constexpr double kLabelWidth = kTimeLabelWidth;
constexpr double kTitle = 40;
constexpr int kBins = 400;
// Up to which transfers are drawn one by one.
constexpr int kMostBarRows = 32;
constexpr int kMostBars = 2000;

// 1, 2 or 5 x 10^k ns, so that at most ten ticks fit.
int64_t TickNs(int64_t ns) {
  int64_t tick = 1;
  while (true) {
    for (int64_t factor : {1, 2, 5}) {
      if (tick * factor * 10 >= ns) return tick * factor;
    }
    tick *= 10;
  }
}

std::string TimeText(int64_t ns) {
  if (ns == 0) return "0";
  if (ns >= 1'000'000'000) return absl::StrFormat("%.4g s", ns / 1e9);
  if (ns >= 1'000'000) return absl::StrFormat("%.4g ms", ns / 1e6);
  return absl::StrFormat("%.4g us", ns / 1e3);
}

class Chart {
 public:
  Chart(Svg& svg, double left, double top, const Preview& preview,
        const Places& places, const LaneTimeline& timeline, int64_t ns)
      : svg_(svg),
        timeline_(timeline),
        ns_(ns),
        rows_(preview, places, timeline.lane),
        left_(left),
        top_(top) {
    x_ = left + kLabelWidth;
    y_ = top + kTitle;
    row_height_ = std::clamp(720.0 / std::max(rows_.size(), 1), 6.0, 26.0);
    bars_ = rows_.by_port() && rows_.size() <= kMostBarRows &&
            static_cast<int>(timeline.transfers.size()) <= kMostBars;
  }

  Rect Draw() {
    DrawTitle();
    const double height = rows_.size() * row_height_;
    svg_.Add({x_, y_, kWidth, height}, "#f1f3f5");
    DrawLabels();
    if (bars_) {
      for (Direction direction : {Direction::kOut, Direction::kIn}) {
        DrawBars(direction);
      }
    } else {
      for (Direction direction : {Direction::kOut, Direction::kIn}) {
        DrawBins(direction);
      }
    }
    svg_.Flush();
    DrawAxis(y_ + height);
    return {left_, top_, x_ + kWidth - left_, kTitle + height + 26};
  }

 private:
  void DrawTitle() {
    const char* what = timeline_.lane == Lane::kInside ? "Inside nodes"
                                                       : "Between nodes (NICs)";
    svg_.Text(left_, top_ + 12,
              absl::StrCat("When: ", what, ", ", TimeText(timeline_.ns), ", ",
                           Grouped(timeline_.transfers.size()), " parcels ",
                           HowText()),
              {.size = 12, .fill = kInk, .bold = true});
    const auto note = [&](double x, absl::string_view text) {
      svg_.Text(x, top_ + 29, text, {.size = 10, .fill = kFaintInk});
    };
    const std::string halves =
        "upper half of a row: what it sends, lower: what it receives; red: "
        "the end; colour: ";
    if (bars_) {
      const bool passes =
          std::any_of(timeline_.transfers.begin(), timeline_.transfers.end(),
                      [](const LaneTransfer& it) { return it.passed_on; });
      return note(left_, absl::StrCat(halves, "the other end's row",
                                      passes ? "; black edge: passed on" : ""));
    }
    note(left_, absl::StrCat(halves, "how busy, 0 to 100 %"));
    constexpr int kSteps = 24;
    for (int i = 0; i < kSteps; ++i) {
      svg_.Add({left_ + 520 + i * 4.0, top_ + 20, 4.5, 10},
               HeatColour(HeatOf(), i + 1, kSteps));
    }
  }

  // Collectives are windows, whatever the rest is.
  std::string HowText() const {
    const auto of_collectives = std::count_if(
        timeline_.transfers.begin(), timeline_.transfers.end(),
        [](const LaneTransfer& it) { return it.collective >= 0; });
    const std::string rest = timeline_.grouped ? "in groups" : "in order";
    if (of_collectives == 0) return rest;
    const bool all =
        of_collectives == static_cast<int64_t>(timeline_.transfers.size());
    return all ? "in collectives"
               : absl::StrCat(rest, ", ", Grouped(of_collectives),
                              " of them in collectives");
  }

  double At(double ns) const { return x_ + ns / ns_ * kWidth; }
  Rect Half(int row, Direction direction) const {
    const double gap = row_height_ >= 10 ? 1 : 0.5;
    const double high = (row_height_ - gap) / 2;
    return {x_,
            y_ + row * row_height_ + (direction == Direction::kOut ? 0 : high),
            kWidth, high};
  }

  void DrawLabels() {
    int step = 1;
    while (step * row_height_ < 11) step *= 2;
    for (int row = 0; row < rows_.size(); ++row) {
      if (row % step != 0) continue;
      svg_.Text(x_ - 6, y_ + row * row_height_ + row_height_ / 2 + 3.5,
                rows_.rows()[row].label,
                {.size = 10, .anchor = "end", .fill = kInk});
    }
    for (int row = 1; row < rows_.size() && row_height_ >= 10; ++row) {
      svg_.Collect({x_, y_ + row * row_height_ - 0.75, kWidth, 0.5}, "#ced4da");
    }
    svg_.Flush();
  }

  // Each transfer as high as its share of what the port can carry; those that
  // go together are stacked.
  void DrawBars(Direction direction) {
    std::map<std::tuple<int, int64_t, int64_t>, double> filled;
    const Direction other =
        direction == Direction::kOut ? Direction::kIn : Direction::kOut;
    for (const LaneTransfer& it : timeline_.transfers) {
      const int row = rows_.RowOf(it.parcel, direction);
      const Rect half = Half(row, direction);
      const double share = std::min(
          1.0, it.parcel.bytes / rows_.CapacityBytes(row, it.end - it.begin));
      double& before = filled[{row, it.begin, it.end}];
      const double high = half.height * share;
      // From the middle of the row outwards.
      const double y = direction == Direction::kOut
                           ? half.y + half.height - before - high
                           : half.y + before;
      before += high;
      svg_.Open(absl::StrCat(
          "rank ", it.parcel.sender, " to rank ", it.parcel.receiver, ": ",
          BytesText(it.parcel.bytes), " at offset ",
          BytesText(it.parcel.offset_bytes), ", ", TimeText(it.begin), " to ",
          TimeText(it.end), Remark(it)));
      const double x = At(it.begin);
      const double wide = std::max(At(it.end) - x, 0.6);
      // Seen apart where there is room; without seams where there is none.
      svg_.Add({x, y, wide > 3 ? wide - 0.5 : wide + 0.3, high},
               PartColour(rows_.RowOf(it.parcel, other), rows_.size()));
      if (it.passed_on) {
        svg_.Add(
            {x, direction == Direction::kOut ? half.y : half.y + high - 1.5,
             wide, 1.5},
            kInk);
      }
      svg_.Close();
    }
  }

  // What a collective it is of, and whether it goes on from here.
  std::string Remark(const LaneTransfer& it) const {
    if (it.collective < 0) return "";
    return absl::StrCat(", ", timeline_.collectives[it.collective].name,
                        it.passed_on ? ", passed on" : "",
                        it.relayed ? ", to be passed on" : "");
  }

  void DrawBins(Direction direction) {
    const auto busy = UtilisationOf(rows_, timeline_, direction, ns_, kBins);
    // In hundredths: equal neighbours are one rectangle.
    const auto percent = [](double share) {
      return std::min<int64_t>(std::llround(share * 100), 100);
    };
    for (int row = 0; row < rows_.size(); ++row) {
      const Rect half = Half(row, direction);
      for (int bin = 0; bin < kBins;) {
        const int64_t value = percent(busy[row][bin]);
        int end = bin + 1;
        while (end < kBins && percent(busy[row][end]) == value) ++end;
        if (value > 0) {
          svg_.Collect({x_ + bin * kWidth / kBins, half.y,
                        (end - bin) * kWidth / kBins, half.height},
                       HeatColour(HeatOf(), value, 100));
        }
        bin = end;
      }
    }
  }

  Heat HeatOf() const {
    return timeline_.lane == Lane::kInside ? Heat::kInside : Heat::kBetween;
  }

  void DrawAxis(double y) {
    const int64_t tick = TickNs(ns_);
    for (int64_t at = 0; at <= ns_; at += tick) {
      svg_.Add({At(at) - 0.25, y_, 0.5, y - y_ + 4}, "#adb5bd");
      svg_.Text(
          At(at), y + 15, TimeText(at),
          {.size = 10, .anchor = at == 0 ? "start" : "middle", .fill = kInk});
    }
    svg_.Add({At(timeline_.ns) - 0.5, y_, 1, y - y_}, "#e03131");
  }

  Svg& svg_;
  const LaneTimeline& timeline_;
  const int64_t ns_;
  const PortRows rows_;
  const double left_, top_;
  double x_ = 0, y_ = 0;  // of the rows
  double row_height_ = 0;
  bool bars_ = false;
};

}  // namespace

Rect DrawTimeline(Svg& svg, double left, double top, const Preview& preview,
                  const Places& places, const LaneTimeline& timeline,
                  int64_t ns) {
  return Chart(svg, left, top, preview, places, timeline, ns).Draw();
}

}  // namespace dynatrain::cli
