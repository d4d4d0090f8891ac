// What somebody probably meant: the known word closest to the one they wrote.
//
//   Nearest("tensor-glob", {"tensor", "state", "rank"}) == "tensor"
//   return InvalidArgument(StrCat("no option --", word, DidYouMean(word,
//   all)));
#ifndef BASE_NEAREST_H_
#define BASE_NEAREST_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dynatrain {

// Insertions, deletions, replacements and swaps of neighbours that make `a`
// into `b`. O(|a| |b|).
int EditDistance(absl::string_view a, absl::string_view b);

// The first of `known` with the smallest distance to `word`, letter case not
// counted; nullopt if that is more than a third of the longer word, so that
// nothing is suggested that nobody meant. `known` that begins with `word`
// (of two letters or more) is near too.
std::optional<std::string> Nearest(absl::string_view word,
                                   absl::Span<const std::string> known);

// "; did you mean tensor?", or "" if nothing is near.
std::string DidYouMean(absl::string_view word,
                       absl::Span<const std::string> known);

}  // namespace dynatrain

#endif  // BASE_NEAREST_H_
