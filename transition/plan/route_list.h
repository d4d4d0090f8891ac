// RouteList: the routes between one pair of ranks, kept small. A plan has
// hundreds of thousands of routes, but few boxes: thousands of tensors of one
// class share theirs. So a list keeps each box once and 8 bytes per route; most
// of a plan's time would be the first touch of its memory otherwise. Routes are
// made when they are asked for:
//
//   for (const Route& route : list) { ... }    // by value, as list[i] is
#ifndef TRANSITION_PLAN_ROUTE_LIST_H_
#define TRANSITION_PLAN_ROUTE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "transition/plan/route.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {

// Iterates over what has size() and gives values by operator[].
template <typename List>
class IndexIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = typename List::value_type;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = value_type;

  IndexIterator() = default;
  IndexIterator(const List* list, size_t index) : list_(list), index_(index) {}

  value_type operator*() const { return (*list_)[index_]; }
  IndexIterator& operator++() {
    ++index_;
    return *this;
  }
  IndexIterator operator++(int) {
    IndexIterator before = *this;
    ++index_;
    return before;
  }
  friend bool operator==(const IndexIterator& a, const IndexIterator& b) {
    return a.index_ == b.index_;
  }

 private:
  const List* list_ = nullptr;
  size_t index_ = 0;
};

class RouteList {
 public:
  using value_type = Route;
  using const_iterator = IndexIterator<RouteList>;
  using iterator = const_iterator;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // REQUIRES: i < size().
  Route operator[](size_t i) const;
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }

  // Route by route. REQUIRES: all have the same source and target rank.
  void push_back(const Route& route);
  // The same for routes that differ in their tensors alone: the box and the
  // copies are added once, then each tensor.
  using Shape = uint32_t;
  Shape AddShape(const Route& route);
  void Append(int tensor, Shape shape) { entries_.push_back({tensor, shape}); }

  void clear() { *this = RouteList(); }
  // Into the order of Route. Cheap if tensors ascend already.
  void Sort();

  friend bool operator==(const RouteList& a, const RouteList& b);

 private:
  struct Entry {
    int32_t tensor;
    Shape shape;  // index into words_
  };

  bool IsBefore(const Entry& a, const Entry& b) const;

  int source_rank_ = -1;
  int target_rank_ = -1;
  std::vector<Entry> entries_;
  // Of each shape: dims, both copies, the box's origin, its extents.
  std::vector<int64_t> words_;
};

// What stays in a process. If `adopted`, the process's own memory of the copy
// is the same in both worlds, element by element, so it can be taken over
// without copying anything; then this is so for all of its regions.
struct LocalRoute {
  Route route;
  bool adopted = false;
  friend bool operator==(const LocalRoute&, const LocalRoute&) = default;
};

// A RouteList that remembers what is adopted.
class LocalRouteList {
 public:
  using value_type = LocalRoute;
  using const_iterator = IndexIterator<LocalRouteList>;
  using iterator = const_iterator;

  size_t size() const { return routes_.size(); }
  bool empty() const { return routes_.empty(); }
  // REQUIRES: i < size().
  LocalRoute operator[](size_t i) const { return {routes_[i], adopted_[i]}; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }

  // REQUIRES, here and below: ascending, and as RouteList says.
  void push_back(const LocalRoute& local);
  RouteList::Shape AddShape(const Route& route) {
    return routes_.AddShape(route);
  }
  void Append(int tensor, RouteList::Shape shape, bool adopted) {
    routes_.Append(tensor, shape);
    adopted_.push_back(adopted);
  }

  void clear() { *this = LocalRouteList(); }

  friend bool operator==(const LocalRouteList& a,
                         const LocalRouteList& b) = default;

 private:
  RouteList routes_;
  std::vector<bool> adopted_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_PLAN_ROUTE_LIST_H_
