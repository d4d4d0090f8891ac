// NamedBuffers: buffers of a layout by name, each added when it is first asked
// for.
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
  explicit NamedBuffers(LayoutBuilder* builder) : builder_(builder) {}

  // The index in the layout. `elements` of a rank, padding included; the same
  // each time that a name is given.
  int Of(const std::string& name, int64_t elements) {
    const auto [it, is_new] = indices_.try_emplace(name, 0);
    if (is_new) {
      it->second = builder_->AddBuffer(name);
      elements_.push_back(elements);
    }
    return it->second;
  }

  // Of each buffer, by its index.
  std::vector<int64_t> TakeElements() && { return std::move(elements_); }

 private:
  LayoutBuilder* builder_;
  absl::flat_hash_map<std::string, int> indices_;
  std::vector<int64_t> elements_;
};

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_TORCH_NAMED_BUFFERS_H_
