#include "vps/layout/listing/comparison.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "base/ranges_text.h"
#include "vps/geometry/region.h"

namespace dynatrain::vps {
namespace {

using Index = std::vector<int64_t>;

std::string ListText(absl::Span<const int64_t> numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

TensorDifference Differs(absl::string_view kind, absl::string_view expected,
                         absl::string_view actual, const ListingNames& names) {
  return {kind, absl::StrCat(kind, " is ", expected, " in ", names.expected,
                             ", ", actual, " in ", names.actual)};
}

// "0/dense + 64"; "" if it is not said.
std::string BufferText(const ListedTensor& tensor) {
  if (tensor.buffer.empty()) return "";
  return absl::StrCat(tensor.buffer, " + ", tensor.buffer_offset);
}

int64_t AddressOf(const ListedRegion& region, absl::Span<const int64_t> index) {
  int64_t address = region.offset;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    address += (index[dim] - region.global.origin(dim)) * region.strides[dim];
  }
  return address;
}

Region Without(const Region& region, const Box& taken) {
  Region left;
  for (const Box& box : region) {
    for (const Box& part : Subtract(box, taken)) left.push_back(part);
  }
  return left;
}

// The first elements of `a` that no region of `b` has.
std::optional<Box> FirstMissing(const std::vector<ListedRegion>& a,
                                const std::vector<ListedRegion>& b) {
  for (const ListedRegion& region : a) {
    Region rest;
    if (!region.global.empty()) rest.push_back(region.global);
    for (const ListedRegion& other : b) {
      rest = Without(rest, other.global);
      if (rest.empty()) break;
    }
    if (!rest.empty()) return rest.front();
  }
  return std::nullopt;
}

// The first element of `common` that the two regions put at different places.
std::optional<Index> FirstMoved(const Box& common, const ListedRegion& a,
                                const ListedRegion& b) {
  Index index(common.origin().begin(), common.origin().end());
  if (AddressOf(a, index) != AddressOf(b, index)) return index;
  for (int dim = common.dims() - 1; dim >= 0; --dim) {
    if (common.extent(dim) == 1 || a.strides[dim] == b.strides[dim]) continue;
    ++index[dim];
    return index;
  }
  return std::nullopt;
}

std::optional<TensorDifference> CompareOffsets(
    const std::vector<ListedRegion>& expected,
    const std::vector<ListedRegion>& actual, const ListingNames& names) {
  for (const ListedRegion& a : expected) {
    for (const ListedRegion& b : actual) {
      const std::optional<Box> common = Intersect(a.global, b.global);
      if (!common.has_value()) continue;
      const std::optional<Index> moved = FirstMoved(*common, a, b);
      if (!moved.has_value()) continue;
      return TensorDifference{
          "offset",
          absl::StrCat("element ", ListText(*moved), " lies at ",
                       AddressOf(a, *moved), " in ", names.expected, ", at ",
                       AddressOf(b, *moved), " in ", names.actual)};
    }
  }
  return std::nullopt;
}

std::optional<TensorDifference> CompareRegions(
    const std::vector<ListedRegion>& expected,
    const std::vector<ListedRegion>& actual, const ListingNames& names) {
  if (expected == actual) return std::nullopt;
  const std::pair<std::optional<Box>, absl::string_view> sides[] = {
      {FirstMissing(expected, actual), names.expected},
      {FirstMissing(actual, expected), names.actual}};
  std::vector<std::string> alone;
  for (const auto& [box, name] : sides) {
    if (!box.has_value()) continue;
    alone.push_back(
        absl::StrCat("elements ", box->DebugString(), " only in ", name));
  }
  if (!alone.empty()) {
    return TensorDifference{"elements", absl::StrJoin(alone, "; ")};
  }
  return CompareOffsets(expected, actual, names);
}

// The buffer's parts as text, so that the first that differs can be named.
std::vector<std::string> Lines(const ListedBuffer& buffer) {
  std::vector<std::string> lines;
  lines.push_back(absl::StrCat(buffer.elements, " elements"));
  for (const ListedBuffer::Bucket& bucket : buffer.buckets) {
    lines.push_back(absl::StrCat("bucket [", bucket.begin, ", ", bucket.end,
                                 "), ", bucket.unpadded, " unpadded"));
  }
  for (const ListedBuffer::Entry& entry : buffer.tensors) {
    lines.push_back(absl::StrCat(entry.live_name, " at [", entry.begin, ", ",
                                 entry.end, ")"));
  }
  return lines;
}

std::optional<TensorDifference> CompareBuffer(const ListedBuffer& expected,
                                              const ListedBuffer& actual,
                                              const ListingNames& names) {
  if (expected == actual) return std::nullopt;
  const std::vector<std::string> a = Lines(expected), b = Lines(actual);
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto text = [](const auto& lines, auto it) -> std::string {
    return it == lines.end() ? "nothing more" : *it;
  };
  return TensorDifference{"content",
                          absl::StrCat(text(a, x), " in ", names.expected, ", ",
                                       text(b, y), " in ", names.actual)};
}

}  // namespace

std::optional<TensorDifference> Compare(const ListedTensor& expected,
                                        const ListedTensor& actual,
                                        const ListingNames& names) {
  const TensorSpec &a = expected.spec, &b = actual.spec;
  if (a.dtype() != b.dtype()) {
    return Differs("dtype", DtypeName(a.dtype()), DtypeName(b.dtype()), names);
  }
  if (a.shape() != b.shape()) {
    return Differs("shape", ListText(a.shape()), ListText(b.shape()), names);
  }
  if (expected.local_shape != actual.local_shape) {
    return Differs("local_shape", ListText(expected.local_shape),
                   ListText(actual.local_shape), names);
  }
  const std::optional<TensorDifference> regions =
      CompareRegions(expected.regions, actual.regions, names);
  if (regions.has_value()) return regions;
  if (!expected.live_name.empty() && !actual.live_name.empty() &&
      expected.live_name != actual.live_name) {
    return Differs("live_name", expected.live_name, actual.live_name, names);
  }
  const std::string place = BufferText(expected), other = BufferText(actual);
  if (!place.empty() && !other.empty() && place != other) {
    return Differs("buffer", place, other, names);
  }
  return std::nullopt;
}

ListingComparison::ListingComparison(std::string expected_name,
                                     std::string actual_name)
    : names_{std::move(expected_name), std::move(actual_name)} {}

void ListingComparison::Add(std::string subject,
                            const TensorDifference& difference, int rank) {
  const auto [it, added] = places_.emplace(std::pair(subject, difference.kind),
                                           static_cast<int>(findings_.size()));
  if (added) findings_.push_back({std::move(subject), difference.text, {}});
  findings_[it->second].ranks.push_back(rank);
}

void ListingComparison::AddWorld(const Listing& expected,
                                 const Listing& actual) {
  const auto check = [&](absl::string_view kind, const auto& a, const auto& b) {
    if (a == b) return;
    findings_.push_back(
        {"world",
         Differs(kind, absl::StrCat(a), absl::StrCat(b), names_).text,
         {}});
  };
  check("framework", expected.framework(), actual.framework());
  check("world_size", expected.world_size(), actual.world_size());
}

void ListingComparison::AddRank(const RankListing& expected,
                                const RankListing* actual) {
  ++ranks_compared_;
  if (actual == nullptr) {
    Add("rank", {"missing", absl::StrCat("not in ", names_.actual)},
        expected.rank);
    return;
  }
  CompareTensors(expected, *actual);
  // A job that has no flat buffers to dump leaves them out.
  if (!expected.buffers.empty() && !actual->buffers.empty()) {
    CompareBuffers(expected, *actual);
  }
}

void ListingComparison::CompareTensors(const RankListing& expected,
                                       const RankListing& actual) {
  // Copies of one tensor on one rank are matched in the order they come.
  absl::flat_hash_map<std::string, std::vector<const ListedTensor*>> live;
  for (const ListedTensor& tensor : actual.tensors) {
    live[tensor.spec.Id()].push_back(&tensor);
  }
  absl::flat_hash_map<std::string, size_t> used;
  for (const ListedTensor& tensor : expected.tensors) {
    ++tensors_compared_;
    const std::string id = tensor.spec.Id();
    const size_t index = used[id]++;
    const auto it = live.find(id);
    if (it == live.end() || index >= it->second.size()) {
      Add(id, {"missing", absl::StrCat("only in ", names_.expected)},
          expected.rank);
      continue;
    }
    const std::optional<TensorDifference> difference =
        Compare(tensor, *it->second[index], names_);
    if (difference.has_value()) Add(id, *difference, expected.rank);
  }
  absl::flat_hash_map<std::string, size_t> met;
  for (const ListedTensor& tensor : actual.tensors) {
    const std::string id = tensor.spec.Id();
    if (met[id]++ < used[id]) continue;
    Add(id, {"extra", absl::StrCat("only in ", names_.actual)}, actual.rank);
  }
}

void ListingComparison::CompareBuffers(const RankListing& expected,
                                       const RankListing& actual) {
  const auto find = [](const RankListing& rank, absl::string_view name) {
    return std::find_if(
        rank.buffers.begin(), rank.buffers.end(),
        [&](const auto& buffer) { return buffer.name == name; });
  };
  for (const ListedBuffer& buffer : expected.buffers) {
    const std::string subject = absl::StrCat("buffer ", buffer.name);
    const auto it = find(actual, buffer.name);
    if (it == actual.buffers.end()) {
      Add(subject, {"missing", absl::StrCat("only in ", names_.expected)},
          expected.rank);
      continue;
    }
    const std::optional<TensorDifference> difference =
        CompareBuffer(buffer, *it, names_);
    if (difference.has_value()) Add(subject, *difference, expected.rank);
  }
  for (const ListedBuffer& buffer : actual.buffers) {
    if (find(expected, buffer.name) != expected.buffers.end()) continue;
    Add(absl::StrCat("buffer ", buffer.name),
        {"extra", absl::StrCat("only in ", names_.actual)}, actual.rank);
  }
}

std::string ListingComparison::Text(int most) const {
  if (equal()) return "";
  std::string text;
  for (size_t i = 0; i < findings_.size() && i < most; ++i) {
    const Finding& finding = findings_[i];
    absl::StrAppend(&text, finding.subject);
    if (!finding.ranks.empty()) {
      absl::StrAppend(&text, ", rank ", finding.ranks[0]);
    }
    absl::StrAppend(&text, "\n  ", finding.text, "\n");
    if (finding.ranks.size() > 1) {
      absl::StrAppend(
          &text, "  the like on rank", finding.ranks.size() > 2 ? "s " : " ",
          RangesText(absl::MakeConstSpan(finding.ranks).subspan(1)), "\n");
    }
  }
  if (findings_.size() > most) {
    absl::StrAppend(&text, "... and ", findings_.size() - most, " more\n");
  }
  absl::StrAppend(&text, findings_.size(),
                  findings_.size() == 1 ? " difference" : " differences",
                  " in ", tensors_compared_, " tensors on ", ranks_compared_,
                  ranks_compared_ == 1 ? " rank\n" : " ranks\n");
  return text;
}

}  // namespace dynatrain::vps
