// Comparison: how what a live job holds differs from what a layout says, tensor
// by tensor and rank by rank, told for a person.
//
// Regions are compared as what they mean (which element lies where), not as how
// they are cut into boxes: rows listed one by one equal one box of them.
//
//   ListingComparison comparison("job.yaml", "live.json");
//   for (int rank = 0; rank < layout.world_size(); ++rank) {
//     comparison.AddRank(ListRank(layout, view, rank), live.Find(rank));
//   }
//   if (!comparison.equal()) std::cout << comparison.Text();
#ifndef VPS_LAYOUT_LISTING_COMPARISON_H_
#define VPS_LAYOUT_LISTING_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::vps {

// How two sides are called in texts.
struct ListingNames {
  std::string expected;
  std::string actual;
};

// The first thing that differs.
struct TensorDifference {
  absl::string_view kind;  // of one word, for grouping
  std::string text;
};

// nullopt if both say the same of a tensor on one rank, else what differs
// first, in the order dtype, shape, local shape, elements, offset, live name,
// buffer:
//   "shape is [512, 64] in a.yaml, [520, 64] in live.json"
//   "elements [0:128, 0:64] only in a.yaml"
//   "element [17, 5] lies at 1093 in a.yaml, at 2181 in live.json"
// A live name, and a buffer, is compared if both sides have one.
std::optional<TensorDifference> Compare(const ListedTensor& expected,
                                        const ListedTensor& actual,
                                        const ListingNames& names);

class ListingComparison {
 public:
  ListingComparison(std::string expected_name, std::string actual_name);

  // Compares two headers: frameworks and world sizes.
  void AddWorld(const Listing& expected, const Listing& actual);
  // `actual` is null if the live job doesn't list this rank.
  void AddRank(const RankListing& expected, const RankListing* actual);

  bool equal() const { return findings_.empty(); }
  int64_t ranks_compared() const { return ranks_compared_; }
  int64_t tensors_compared() const { return tensors_compared_; }

  // One paragraph per tensor and kind of difference, in the order in which they
  // were met, each told as the first rank has it and with all ranks that have
  // its like; `most` of them and how many more there are, then the totals.
  // "" if equal.
  std::string Text(int most = 10) const;

 private:
  struct Finding {
    std::string subject;  // "decoder.layers.0.mlp.linear_fc1.weight/param"
    std::string text;     // as the first rank has it
    std::vector<int> ranks;
  };

  void Add(std::string subject, const TensorDifference& difference, int rank);
  void CompareTensors(const RankListing& expected, const RankListing& actual);
  void CompareBuffers(const RankListing& expected, const RankListing& actual);

  ListingNames names_;
  int64_t ranks_compared_ = 0;
  int64_t tensors_compared_ = 0;
  std::vector<Finding> findings_;  // in the order in which they were met
  // The index in findings_ of a subject and a kind.
  absl::flat_hash_map<std::pair<std::string, absl::string_view>, int> places_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_COMPARISON_H_
