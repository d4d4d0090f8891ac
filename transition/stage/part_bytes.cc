#include "transition/stage/part_bytes.h"

#include <algorithm>

namespace dynatrain::transition {
namespace {

void AddTo(PartBytes& sum, const RankRate& rate, int64_t bytes) {
  sum.made += rate.allocates * bytes;
  sum.freed += rate.frees * bytes;
  sum.sent += rate.sends * bytes;
  sum.received += rate.receives * bytes;
  sum.relayed += rate.relays * bytes;
}

bool Fits(absl::Span<const RankRoom> rooms, absl::Span<const PartBytes> bytes) {
  for (size_t rank = 0; rank < rooms.size(); ++rank) {
    if (rooms[rank].PeakBytes(bytes[rank]) > rooms[rank].allowed_bytes) {
      return false;
    }
  }
  return true;
}

std::vector<PartBytes> Sum(absl::Span<const PartBytes> a,
                           absl::Span<const PartBytes> b) {
  std::vector<PartBytes> sum(a.begin(), a.end());
  for (size_t rank = 0; rank < sum.size(); ++rank) sum[rank] += b[rank];
  return sum;
}

}  // namespace

PartBytes& PartBytes::operator+=(const PartBytes& other) {
  made += other.made;
  freed += other.freed;
  sent += other.sent;
  received += other.received;
  relayed += other.relayed;
  return *this;
}

PartTable TableOf(const Lines& lines, const LineCut& cut,
                  absl::Span<const int64_t> item_bytes, int num_ranks,
                  int64_t num_parts) {
  PartTable table(num_ranks, num_parts);
  for (const Line& line : lines.lines) {
    LineCutter cutter(line, cut, item_bytes);
    int64_t begin = 0;
    for (int64_t part = 0; part < cut.num_parts; ++part) {
      const int64_t end = cutter.EndOf(part + 1);
      if (end == begin) continue;
      for (const RankRate& rate : line.rates) {
        AddTo(table.at(part, rate.rank), rate, end - begin);
      }
      begin = end;
    }
  }
  return table;
}

int64_t RankRoom::StagingBytes(const PartBytes& bytes) const {
  const int64_t packed = std::min(port_staging_bytes, bytes.sent) +
                         std::min(port_staging_bytes, bytes.received);
  return std::max<int64_t>(0, packed - dead_bytes);
}

std::vector<int64_t> JoinParts(const PartTable& table,
                               std::vector<RankRoom> rooms) {
  std::vector<int64_t> ends;
  std::vector<PartBytes> stage(table.part(0).begin(), table.part(0).end());
  for (int64_t part = 1; part < table.num_parts(); ++part) {
    std::vector<PartBytes> longer = Sum(stage, table.part(part));
    if (Fits(rooms, longer)) {
      stage = std::move(longer);
      continue;
    }
    ends.push_back(part);
    for (size_t i = 0; i < rooms.size(); ++i) rooms[i].Finish(stage[i]);
    stage.assign(table.part(part).begin(), table.part(part).end());
  }
  ends.push_back(table.num_parts());
  return ends;
}

std::vector<std::vector<PartBytes>> StageSums(const PartTable& table,
                                              absl::Span<const int64_t> ends) {
  std::vector<std::vector<PartBytes>> sums;
  int64_t part = 0;
  for (const int64_t end : ends) {
    sums.emplace_back(table.num_ranks());
    for (; part < end; ++part) {
      for (int rank = 0; rank < table.num_ranks(); ++rank) {
        sums.back()[rank] += table.part(part)[rank];
      }
    }
  }
  return sums;
}

}  // namespace dynatrain::transition
