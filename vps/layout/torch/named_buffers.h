// NamedBuffers: buffers of a layout by name, each added when it is first asked
// for, and how large they are on the ranks of each lane.
#ifndef VPS_LAYOUT_TORCH_NAMED_BUFFERS_H_
#define VPS_LAYOUT_TORCH_NAMED_BUFFERS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "vps/layout/layout_builder.h"

namespace dynatrain::vps {

class NamedBuffers {
 public:
  // `builder` outlives this.
  NamedBuffers(int num_lanes, LayoutBuilder* builder)
      : num_lanes_(num_lanes), builder_(builder) {}

  // The index in the layout. `elements` of a rank of lane `lane`, padding
  // included; the same each time that a name is given.
  int Of(const std::string& name, int lane, int64_t elements) {
    const auto [it, is_new] = indices_.try_emplace(name, 0);
    if (is_new) {
      it->second = builder_->AddBuffer(name);
      elements_.emplace_back(num_lanes_);
    }
    elements_[it->second][lane] = elements;
    return it->second;
  }

  // Of each buffer, by its index, on each lane; 0 where there is none.
  std::vector<std::vector<int64_t>> TakeElements() && {
    return std::move(elements_);
  }

 private:
  int num_lanes_;
  LayoutBuilder* builder_;
  absl::flat_hash_map<std::string, int> indices_;
  std::vector<std::vector<int64_t>> elements_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_NAMED_BUFFERS_H_
