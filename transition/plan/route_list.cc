#include "transition/plan/route_list.h"

#include <algorithm>

#include "absl/types/span.h"

namespace dynatrain::transition {
namespace {

constexpr int kCopyBits = 28;  // two copies and the dims share a word
constexpr int64_t kCopyMask = (int64_t{1} << kCopyBits) - 1;

}  // namespace

Route RouteList::operator[](size_t i) const {
  const Entry& entry = entries_[i];
  const int64_t* word = &words_[entry.shape];
  const size_t dims = *word >> (2 * kCopyBits);
  return {.tensor = entry.tensor,
          .region = vps::Box::CreateUnchecked(
              absl::MakeConstSpan(word + 1, dims),
              absl::MakeConstSpan(word + 1 + dims, dims)),
          .source_rank = source_rank_,
          .target_rank = target_rank_,
          .source_copy = static_cast<int>(*word >> kCopyBits & kCopyMask),
          .target_copy = static_cast<int>(*word & kCopyMask)};
}

RouteList::Shape RouteList::AddShape(const Route& route) {
  source_rank_ = route.source_rank;
  target_rank_ = route.target_rank;
  const auto shape = static_cast<Shape>(words_.size());
  words_.push_back((int64_t{route.region.dims()} << (2 * kCopyBits)) |
                   (int64_t{route.source_copy} << kCopyBits) |
                   int64_t{route.target_copy});
  const auto append = [&](absl::Span<const int64_t> numbers) {
    words_.insert(words_.end(), numbers.begin(), numbers.end());
  };
  append(route.region.origin());
  append(route.region.shape());
  return shape;
}

void RouteList::push_back(const Route& route) {
  const Shape shape = AddShape(route);
  Append(route.tensor, shape);
}

bool RouteList::IsBefore(const Entry& a, const Entry& b) const {
  if (a.tensor != b.tensor) return a.tensor < b.tensor;
  const int64_t* x = &words_[a.shape];
  const int64_t* y = &words_[b.shape];
  // Boxes first, as Route has it; of one tensor all have the same dims.
  const int64_t size = 1 + 2 * (*x >> (2 * kCopyBits));
  const auto [different, other] = std::mismatch(x + 1, x + size, y + 1);
  if (different != x + size) return *different < *other;
  return *x < *y;
}

void RouteList::Sort() {
  const auto is_before = [&](const Entry& a, const Entry& b) {
    return IsBefore(a, b);
  };
  if (!std::is_sorted(entries_.begin(), entries_.end(), is_before)) {
    std::sort(entries_.begin(), entries_.end(), is_before);
  }
}

bool operator==(const RouteList& a, const RouteList& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void LocalRouteList::push_back(const LocalRoute& local) {
  routes_.push_back(local.route);
  adopted_.push_back(local.adopted);
}

}  // namespace dynatrain::transition
