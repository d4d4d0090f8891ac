#include "transition/engine/tensor_state_testutil.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/fingerprint.h"
#include "vps/geometry/box.h"
#include "vps/geometry/strided_run.h"
#include "vps/layout/boxes.h"

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
  for (int t = 0; t < world.layout().num_tensors(); ++t) {
    const vps::Box box = vps::LocalBox(world.layout(), rank, t);
    const int64_t item_bytes = world.layout().tensor(t).item_bytes();
    std::vector<int> order(box.dims());
    std::iota(order.begin(), order.end(), 0);
    if (Draw(random, 0, 3) == 0) {
      std::shuffle(order.begin(), order.end(), random);
    }
    std::vector<int64_t>& strides = state.strides_bytes_[t];
    strides.resize(box.dims());
    int64_t stride = item_bytes;
    for (int i = box.dims() - 1; i >= 0; --i) {
      strides[order[i]] = stride;
      stride *= std::max<int64_t>(box.extent(order[i]), 1);
      if (Draw(random, 0, 4) == 0) stride += item_bytes;
    }
    std::vector<std::byte>& memory = state.memory_[t];
    memory.resize(stride);
    for (size_t i = 0; i < memory.size(); ++i) {
      memory[i] = std::byte(0xA5 ^ i);
    }
  }
  return state;
}

void TensorState::ForEachElement(
    const std::function<void(int tensor, int64_t offset,
                             absl::Span<const std::byte> value)>& visit) const {
  std::byte value[16];
  for (const auto& [t, strides] : strides_bytes_) {
    const vps::Box box = vps::LocalBox(world_.layout(), rank_, t);
    const vps::TensorSpec& spec = world_.layout().tensor(t);
    const uint64_t hash = FingerprintOf(spec.Id()).low;
    const absl::Span<std::byte> bits(value, spec.item_bytes());
    std::vector<int64_t> index(box.origin().begin(), box.origin().end());
    for (int64_t n = 0; n < box.num_elements(); ++n) {
      int64_t offset = 0;
      for (int d = 0; d < box.dims(); ++d) {
        offset += (index[d] - box.origin(d)) * strides[d];
      }
      ValueOf(hash, vps::FlatIndex(index, spec.shape()), bits);
      visit(t, offset, bits);
      for (int d = box.dims() - 1; d >= 0; --d) {
        if (++index[d] < box.origin(d) + box.extent(d)) break;
        index[d] = box.origin(d);
      }
    }
  }
}

void TensorState::FillWithValues() {
  ForEachElement([&](int t, int64_t offset, absl::Span<const std::byte> value) {
    memcpy(memory_[t].data() + offset, value.data(), value.size());
  });
}

std::string TensorState::FirstWrongElement() const {
  std::string wrong;
  ForEachElement([&](int t, int64_t offset, absl::Span<const std::byte> value) {
    if (wrong.empty() && memcmp(memory_.at(t).data() + offset, value.data(),
                                value.size()) != 0) {
      wrong = absl::StrCat(world_.layout().tensor(t).Id(), " of rank ", rank_,
                           " at offset ", offset);
    }
  });
  return wrong;
}

void TensorState::ForEachTensor(
    const std::function<void(int tensor, std::byte* data,
                             absl::Span<const int64_t> shape,
                             absl::Span<const int64_t> strides_bytes)>& visit) {
  for (auto& [t, memory] : memory_) {
    visit(t, memory.data(), vps::LocalBox(world_.layout(), rank_, t).shape(),
          strides_bytes_[t]);
  }
}

}  // namespace dynatrain::transition
