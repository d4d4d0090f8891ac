// What a rank uses of one world where memory goes by whole extents: counted
// row by row, apart from how stages count it.
#ifndef TRANSITION_CHECK_EXTENT_USE_H_
#define TRANSITION_CHECK_EXTENT_USE_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "transition/program/program.h"

namespace dynatrain::transition {

class ExtentUse {
 public:
  // Pieces lie end to end in their order, each row-major, from the beginning of
  // an extent; none of their bytes is used.
  ExtentUse(absl::Span<const Piece> pieces,
            absl::Span<const int64_t> item_bytes, int64_t extent_bytes);

  // Of a region of one of the pieces (of what is elsewhere: nothing). Returns
  // how many bytes more, or less if below 0, are in extents that are used.
  int64_t Use(const Piece& region) { return Change(region, 1); }
  int64_t Unuse(const Piece& region) { return Change(region, -1); }

 private:
  struct Lies {
    vps::Box box;
    int64_t at = 0;
  };

  int64_t Change(const Piece& region, int sign);
  void ChangeRows(const Lies& piece, const Piece& region, int sign);
  void ChangeBytes(int64_t begin, int64_t bytes, int sign);

  const std::vector<int64_t> item_bytes_;
  const int64_t extent_bytes_;
  std::multimap<std::pair<int, int>, Lies> pieces_;  // by tensor and copy
  std::map<int64_t, int64_t> used_;                  // bytes, by extent
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_CHECK_EXTENT_USE_H_
