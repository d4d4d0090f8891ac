#include "transition/engine/tensor_state_testutil.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "vps/geometry/box.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/layout.h"

namespace dynatrain::transition {
namespace {

int64_t Draw(std::mt19937_64& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

// The bits of one element of the job's state.
void ValueOf(uint64_t tensor_hash, int64_t flat_index,
             absl::Span<std::byte> value) {
  uint64_t bits = tensor_hash + flat_index * 0x9E3779B97F4A7C15;
  for (size_t i = 0; i < value.size(); i += 8) {
    bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9;
    memcpy(value.data() + i, &bits, std::min<size_t>(8, value.size() - i));
  }
}

}  // namespace

TensorState TensorState::Allocate(const World& world, int rank,
                                  std::mt19937_64& random) {
  TensorState state;
  state.world_ = world;
  state.rank_ = rank;
  if (rank < 0) return state;
  const vps::Layout& layout = world.layout();
  for (int t = 0; t < layout.num_tensors(); ++t) {
    for (int copy = 0; copy < layout.num_copies(t); ++copy) {
      const auto shape = layout.LocalShapeOf(rank, t, copy);
      if (!shape.has_value()) continue;
      const Key key = {t, copy};
      state.shapes_[key] = *shape;
      const int64_t item_bytes = layout.tensor(t).item_bytes();
      std::vector<int> order(shape->size());
      std::iota(order.begin(), order.end(), 0);
      if (Draw(random, 0, 3) == 0) {
        std::shuffle(order.begin(), order.end(), random);
      }
      std::vector<int64_t>& strides = state.strides_bytes_[key];
      strides.resize(shape->size());
      int64_t stride = item_bytes;
      for (int i = static_cast<int>(shape->size()) - 1; i >= 0; --i) {
        strides[order[i]] = stride;
        stride *= std::max<int64_t>((*shape)[order[i]], 1);
        if (Draw(random, 0, 4) == 0) stride += item_bytes;
      }
      std::vector<std::byte>& memory = state.memory_[key];
      memory.resize(stride);
      for (size_t i = 0; i < memory.size(); ++i) {
        memory[i] = std::byte(0xA5 ^ i);
      }
    }
  }
  return state;
}

void TensorState::ForEachElement(
    const std::function<void(const Key& key, int64_t offset,
                             absl::Span<const std::byte> value)>& visit) const {
  if (rank_ < 0) return;
  std::byte value[16];
  const auto visit_region = [&](const vps::OwnedRegion& region) {
    const Key key = {region.tensor, region.copy};
    const vps::TensorSpec& spec = world_.layout().tensor(region.tensor);
    const uint64_t hash = FingerprintOf(spec.Id()).low;
    const absl::Span<std::byte> bits(value, spec.item_bytes());
    const vps::LocalShape& shape = shapes_.at(key);
    const vps::Box& box = region.global;
    std::vector<int64_t> index(box.origin().begin(), box.origin().end());
    for (int64_t n = 0; n < box.num_elements(); ++n) {
      // In memory without gaps, and from there to its own.
      int64_t position = region.offset;
      for (int d = 0; d < box.dims(); ++d) {
        position += (index[d] - box.origin(d)) * region.strides[d];
      }
      int64_t offset = 0;
      for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
        offset += position % shape[d] * strides_bytes_.at(key)[d];
        position /= shape[d];
      }
      ValueOf(hash, vps::FlatIndex(index, spec.shape()), bits);
      if (spec.pad_from().has_value() && index[0] >= *spec.pad_from()) {
        std::fill(bits.begin(), bits.end(), std::byte{0});
      }
      visit(key, offset, bits);
      for (int d = box.dims() - 1; d >= 0; --d) {
        if (++index[d] < box.origin(d) + box.extent(d)) break;
        index[d] = box.origin(d);
      }
    }
  };
  world_.layout().ForEachRegion(rank_, visit_region);
}

void TensorState::FillWithValues() {
  ForEachElement(
      [&](const Key& key, int64_t offset, absl::Span<const std::byte> value) {
        memcpy(memory_[key].data() + offset, value.data(), value.size());
      });
}

std::string TensorState::FirstWrongElement() const {
  std::string wrong;
  ForEachElement(
      [&](const Key& key, int64_t offset, absl::Span<const std::byte> value) {
        if (wrong.empty() && memcmp(memory_.at(key).data() + offset,
                                    value.data(), value.size()) != 0) {
          wrong = absl::StrCat(world_.layout().tensor(key.first).Id(),
                               " of rank ", rank_, " at offset ", offset);
        }
      });
  return wrong;
}

void TensorState::ForEachTensor(
    const std::function<void(int tensor, int copy, std::byte* data,
                             absl::Span<const int64_t> shape,
                             absl::Span<const int64_t> strides_bytes)>& visit) {
  for (auto& [key, memory] : memory_) {
    visit(key.first, key.second, memory.data(), shapes_[key],
          strides_bytes_[key]);
  }
}

}  // namespace dynatrain::transition
