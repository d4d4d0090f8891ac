#include "vps/layout/listing/copies.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/ranges_text.h"
#include "base/status_macros.h"
#include "vps/geometry/region.h"

namespace dynatrain::vps {
namespace {

// Pairs of boxes that are compared at most, and boxes and candidates that wait
// for a step back, which this holds below 300 MB. Copies that are cut along one
// line, as flat shards are, never need a step back, and then a part is compared
// with a few boxes only.
constexpr int64_t kMostPairs = 2'000'000;

absl::Status TooManyPieces() {
  return absl::InvalidArgumentError(
      "listed in too many pieces to be put together");
}

using Origin = std::vector<int64_t>;

Origin OriginOf(const Box& box) {
  return {box.origin().begin(), box.origin().end()};
}

// The first element, row-major, of boxes that are not empty.
template <typename Boxes>
Origin FirstElement(const Boxes& boxes) {
  return OriginOf(*std::min_element(
      boxes.begin(), boxes.end(),
      [](const Box& a, const Box& b) { return a.origin() < b.origin(); }));
}

// `rest` without the boxes of the part; nullopt if it lacks one of them.
std::optional<Region> Without(const Region& rest, const CopyPart& part) {
  Region left = rest;
  for (const Box& box : part.boxes) {
    Region smaller;
    int64_t taken = 0;
    for (const Box& piece : left) {
      if (const auto common = Intersect(piece, box)) {
        taken += common->num_elements();
      }
      for (const Box& other : Subtract(piece, box)) smaller.push_back(other);
    }
    if (taken != box.num_elements()) return std::nullopt;
    left = std::move(smaller);
  }
  return left;
}

std::vector<Box> BoxesOf(absl::Span<const CopyPart> parts) {
  std::vector<Box> boxes;
  for (const CopyPart& part : parts) {
    boxes.insert(boxes.end(), part.boxes.begin(), part.boxes.end());
  }
  return boxes;
}

// OK if each element is in some part.
absl::Status CheckCovered(const Box& whole, absl::Span<const CopyPart> parts) {
  // In order of their origins little is left before what is cut along one line.
  std::vector<Box> boxes = BoxesOf(parts);
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.origin() < b.origin(); });
  Region rest = {whole};
  int64_t pairs = 0;
  for (const Box& box : boxes) {
    pairs += static_cast<int64_t>(rest.size());
    if (pairs > kMostPairs) return TooManyPieces();
    Region smaller;
    for (const Box& piece : rest) {
      for (const Box& left : Subtract(piece, box)) smaller.push_back(left);
    }
    rest = std::move(smaller);
  }
  if (rest.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("no rank lists elements ", rest[0].DebugString()));
}

bool AllAreOneCopy(const Box& whole, absl::Span<const CopyPart> parts) {
  // Sums may be more than 63 bits; of the right number they are not.
  uint64_t elements = 0;
  for (const CopyPart& part : parts) elements += NumElements(part.boxes);
  if (elements != static_cast<uint64_t>(whole.num_elements())) return false;
  absl::flat_hash_set<int> ranks;
  for (const CopyPart& part : parts) {
    for (int rank : part.ranks) {
      if (!ranks.insert(rank).second) return false;
    }
  }
  return CheckExactCover(whole, BoxesOf(parts)).ok();
}

// Depth first over the parts that continue the copy at hand.
class Search {
 public:
  Search(const Box& whole, absl::Span<const CopyPart> parts)
      : whole_(whole), parts_(parts), used_(parts.size()) {
    for (size_t i = 0; i < parts.size(); ++i) {
      beginning_at_[FirstElement(parts[i].boxes)].push_back(
          static_cast<int>(i));
    }
  }

  absl::StatusOr<std::vector<std::vector<int>>> Run() {
    Open();
    while (pairs_ <= kMostPairs) {
      Choice& choice = choices_.back();
      if (choice.next == choice.candidates.size()) {
        if (stuck_ < 0) stuck_ = FirstLeft();
        if (choices_.size() == 1) return Unplaced();
        choices_.pop_back();
        Free(Taken(choices_.back()), choices_.back().copy);
        continue;
      }
      const int part = choice.candidates[choice.next++];
      pairs_ += (choice.rest.size() + parts_[part].boxes.size()) *
                parts_[part].boxes.size();
      if (pairs_ > kMostPairs) break;
      std::optional<Region> rest = Without(choice.rest, parts_[part]);
      if (!rest.has_value() || !Take(part, choice.copy)) continue;
      if (choices_.size() == parts_.size() && rest->empty()) return Copies();
      Open(*std::move(rest), part);
    }
    return TooManyPieces();
  }

 private:
  // What a part is chosen for, and which.
  struct Choice {
    Region rest;  // of the copy at hand
    int copy;
    bool begins;  // it is the copy's first
    std::vector<int> candidates;
    size_t next = 0;
  };

  // False if a rank of the part has another part of the copy already.
  bool Take(int part, int copy) {
    for (int rank : parts_[part].ranks) {
      if (ranks_of_copies_.contains({copy, rank})) return false;
    }
    for (int rank : parts_[part].ranks) ranks_of_copies_.insert({copy, rank});
    return used_[part] = true;
  }
  void Free(int part, int copy) {
    for (int rank : parts_[part].ranks) ranks_of_copies_.erase({copy, rank});
    used_[part] = false;
  }

  static int Taken(const Choice& choice) {
    return choice.candidates[choice.next - 1];
  }

  void Open() { Open({{whole_}, 0, true, Candidates({whole_}, ""), 0}); }
  void Open(Region rest, int last) {
    const bool begins = rest.empty();
    if (begins) rest = {whole_};
    std::vector<int> candidates =
        Candidates(rest, begins ? "" : parts_[last].live_name);
    const int copy = choices_.back().copy + (begins ? 1 : 0);
    Open({std::move(rest), copy, begins, std::move(candidates), 0});
  }
  void Open(Choice choice) {
    pairs_ += choice.candidates.size();
    choices_.push_back(std::move(choice));
  }

  // Parts that begin where `rest` does, those of the name first.
  std::vector<int> Candidates(const Region& rest,
                              absl::string_view live_name) const {
    std::vector<int> candidates;
    const auto it = beginning_at_.find(FirstElement(rest));
    if (it == beginning_at_.end()) return candidates;
    for (int part : it->second) {
      if (!used_[part]) candidates.push_back(part);
    }
    std::stable_partition(candidates.begin(), candidates.end(), [&](int part) {
      return parts_[part].live_name == live_name;
    });
    return candidates;
  }

  std::vector<std::vector<int>> Copies() const {
    std::vector<std::vector<int>> copies;
    for (const Choice& choice : choices_) {
      if (choice.begins) copies.emplace_back();
      copies.back().push_back(Taken(choice));
    }
    for (std::vector<int>& copy : copies) std::sort(copy.begin(), copy.end());
    std::sort(copies.begin(), copies.end());
    return copies;
  }

  // The first part that no copy has; if all are taken, the last one taken.
  int FirstLeft() const {
    const size_t left =
        std::find(used_.begin(), used_.end(), false) - used_.begin();
    return left < used_.size() ? static_cast<int>(left)
                               : Taken(choices_[choices_.size() - 2]);
  }

  // Names what was left when the search first had to step back.
  absl::Status Unplaced() const {
    const CopyPart& part = parts_[std::max(0, stuck_)];
    return absl::InvalidArgumentError(absl::StrCat(
        part.ranks.size() == 1 ? "rank " : "ranks ", RangesText(part.ranks),
        ": what is listed, from ", part.boxes[0].DebugString(),
        " on, makes up no whole copy with what other ranks list"));
  }

  const Box whole_;
  const absl::Span<const CopyPart> parts_;
  absl::flat_hash_map<Origin, std::vector<int>> beginning_at_;
  std::vector<bool> used_;
  absl::flat_hash_set<std::pair<int, int>> ranks_of_copies_;
  int stuck_ = -1;  // FirstLeft(), the first time
  int64_t pairs_ = 0;
  std::vector<Choice> choices_;
};

}  // namespace

absl::StatusOr<std::vector<std::vector<int>>> CopiesOf(
    const Box& whole, absl::Span<const CopyPart> parts) {
  if (AllAreOneCopy(whole, parts)) {
    std::vector<int> all(parts.size());
    std::iota(all.begin(), all.end(), 0);
    return std::vector<std::vector<int>>{all};
  }
  RETURN_IF_ERROR(CheckCovered(whole, parts));
  return Search(whole, parts).Run();
}

}  // namespace dynatrain::vps
