#include "transition/device/run_copy.h"

#include <algorithm>
#include <cstring>

#include "absl/container/inlined_vector.h"

namespace dynatrain::transition {
namespace {

using vps::StridedRun;

// Where a byte of a run lies, and how far from it memory is regular.
class Cursor {
 public:
  // REQUIRES: the run isn't empty.
  Cursor(const StridedRun& run, int64_t begin)
      : run_(run), offset_(run.offset_bytes), index_(run.loops.size(), 0) {
    int64_t row = begin / run.inner_bytes;
    in_row_ = begin % run.inner_bytes;
    for (int i = static_cast<int>(run.loops.size()) - 1; i >= 0; --i) {
      index_[i] = row % run.loops[i].count;
      row /= run.loops[i].count;
      offset_ += index_[i] * run.loops[i].stride_bytes;
    }
  }

  int64_t offset() const { return offset_ + in_row_; }
  // Contiguous bytes from here on.
  int64_t left_in_row() const { return run_.inner_bytes - in_row_; }
  int64_t row_bytes() const { return run_.inner_bytes; }

  // How many rows of `row_bytes` lie at one stride from here on: rows of the
  // innermost loop, or the pieces of a longer contiguous row.
  struct Rows {
    int64_t count;
    int64_t stride_bytes;
  };
  Rows RegularRows(int64_t row_bytes) const {
    if (in_row_ != 0 || row_bytes != run_.inner_bytes || run_.loops.empty()) {
      return {left_in_row() / row_bytes, row_bytes};
    }
    const StridedRun::Loop& inner = run_.loops.back();
    return {inner.count - index_.back(), inner.stride_bytes};
  }

  // REQUIRES: the bytes lie within the current row, or are rows of
  // RegularRows().
  void Advance(int64_t bytes) {
    in_row_ += bytes;
    int64_t carry = in_row_ / run_.inner_bytes;
    in_row_ %= run_.inner_bytes;
    for (int i = static_cast<int>(run_.loops.size()) - 1; i >= 0 && carry > 0;
         --i) {
      const StridedRun::Loop& loop = run_.loops[i];
      index_[i] += carry;
      offset_ += carry * loop.stride_bytes;
      if (index_[i] < loop.count) return;
      offset_ -= index_[i] * loop.stride_bytes;
      index_[i] = 0;
      carry = 1;
    }
  }

 private:
  const StridedRun& run_;
  int64_t offset_;      // of the current row's first byte, from base
  int64_t in_row_ = 0;  // bytes of the current row that lie behind
  absl::InlinedVector<int64_t, 4> index_;  // per loop
};

// memcpy of a size known at compile time is one or two moves; through the
// library it would be a call per element.
template <int kBytes>
void CopyFixedRows(std::byte* to, int64_t to_stride, const std::byte* from,
                   int64_t from_stride, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) {
    memcpy(to + i * to_stride, from + i * from_stride, kBytes);
  }
}

void CopyRows(std::byte* to, int64_t to_stride, const std::byte* from,
              int64_t from_stride, int64_t row_bytes, int64_t rows) {
  switch (row_bytes) {
    case 1:
      return CopyFixedRows<1>(to, to_stride, from, from_stride, rows);
    case 2:
      return CopyFixedRows<2>(to, to_stride, from, from_stride, rows);
    case 4:
      return CopyFixedRows<4>(to, to_stride, from, from_stride, rows);
    case 8:
      return CopyFixedRows<8>(to, to_stride, from, from_stride, rows);
    case 16:
      return CopyFixedRows<16>(to, to_stride, from, from_stride, rows);
    case 32:
      return CopyFixedRows<32>(to, to_stride, from, from_stride, rows);
    case 64:
      return CopyFixedRows<64>(to, to_stride, from, from_stride, rows);
    default:
      for (int64_t i = 0; i < rows; ++i) {
        memcpy(to + i * to_stride, from + i * from_stride, row_bytes);
      }
  }
}

void CopyCursors(const std::byte* from_base, Cursor from, std::byte* to_base,
                 Cursor to, int64_t size) {
  const int64_t row = std::min(from.row_bytes(), to.row_bytes());
  while (size > 0) {
    const std::byte* source = from_base + from.offset();
    std::byte* target = to_base + to.offset();
    const Cursor::Rows from_rows = from.RegularRows(row);
    const Cursor::Rows to_rows = to.RegularRows(row);
    const int64_t rows = std::min({from_rows.count, to_rows.count, size / row});
    int64_t n = rows * row;
    if (rows > 0) {
      CopyRows(target, to_rows.stride_bytes, source, from_rows.stride_bytes,
               row, rows);
    } else {
      // The rest of a row that an earlier range began, or the begin of one
      // that ends in a later range or in another row of the other side.
      n = std::min({size, from.left_in_row(), to.left_in_row()});
      memcpy(target, source, n);
    }
    from.Advance(n);
    to.Advance(n);
    size -= n;
  }
}

StridedRun Contiguous(int64_t size_bytes) {
  StridedRun run;
  run.inner_bytes = size_bytes;
  return run;
}

int64_t ContiguousBytes(const Cursor& at, const StridedRun& run, int64_t begin,
                        int64_t limit) {
  return std::min({at.left_in_row(), limit, run.num_bytes() - begin});
}

}  // namespace

void CopyRun(ConstRunView from, RunView to, int64_t begin, int64_t size) {
  if (size == 0) return;
  CopyCursors(from.base, Cursor(*from.run, begin), to.base,
              Cursor(*to.run, begin), size);
}

void Pack(ConstRunView from, int64_t begin, absl::Span<std::byte> to) {
  if (to.empty()) return;
  const StridedRun slot = Contiguous(to.size());
  CopyCursors(from.base, Cursor(*from.run, begin), to.data(), Cursor(slot, 0),
              to.size());
}

void Unpack(absl::Span<const std::byte> from, RunView to, int64_t begin) {
  if (from.empty()) return;
  const StridedRun slot = Contiguous(from.size());
  CopyCursors(from.data(), Cursor(slot, 0), to.base, Cursor(*to.run, begin),
              from.size());
}

void FillWithZero(RunView view) {
  const int64_t size = view.run->num_bytes();
  for (int64_t begin = 0; begin < size;) {
    const absl::Span<std::byte> bytes = ContiguousAt(view, begin, size - begin);
    std::memset(bytes.data(), 0, bytes.size());
    begin += static_cast<int64_t>(bytes.size());
  }
}

absl::Span<const std::byte> ContiguousAt(ConstRunView view, int64_t begin,
                                         int64_t limit) {
  if (begin >= view.run->num_bytes()) return {};
  const Cursor at(*view.run, begin);
  return {view.base + at.offset(),
          static_cast<size_t>(ContiguousBytes(at, *view.run, begin, limit))};
}

absl::Span<std::byte> ContiguousAt(RunView view, int64_t begin, int64_t limit) {
  if (begin >= view.run->num_bytes()) return {};
  const Cursor at(*view.run, begin);
  return {view.base + at.offset(),
          static_cast<size_t>(ContiguousBytes(at, *view.run, begin, limit))};
}

}  // namespace dynatrain::transition
