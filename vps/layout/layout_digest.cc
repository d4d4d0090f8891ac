#include "vps/layout/layout_digest.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/fingerprint.h"

namespace dynatrain::vps {
namespace {

// The canonical form; raise its version with any change.
class Canonical {
 public:
  Canonical() { digest_.Append("dynatrain layout 2"); }

  // Fills in the digests.
  void Digest(LayoutBody& body) {
    Number(body.meshes.size());
    for (const Mesh& mesh : body.meshes) digest_.Append(mesh.DebugString());
    Number(body.buffers.size());
    for (const std::string& buffer : body.buffers) digest_.Append(buffer);
    Number(body.placements.size());
    for (const Placement& placement : body.placements) Add(placement);
    for (const ListedCopy& copy : body.listed) Add(copy);
    for (size_t t = 0; t < body.tensors.size(); ++t) {
      Add(body.tensors[t]);
      Number(body.first_held[t + 1] - body.first_held[t]);
      for (int i = body.first_held[t]; i < body.first_held[t + 1]; ++i) {
        Add(body.helds[i]);
      }
    }
    body.tensors_digest = tensors_.Finish();
    digest_.Append(body.tensors_digest);
    body.digest = digest_.Finish();
  }

 private:
  void Number(int64_t number) { digest_.Append(number); }
  template <typename List>
  void Numbers(const List& numbers) {
    Number(numbers.size());
    for (int64_t number : numbers) Number(number);
  }
  void Add(const AxisGroup& group) {
    Numbers(group.axes);
    Number(group.pieces);
  }
  void Add(const Placement& placement) {
    Number(placement.mesh);
    Numbers(placement.located_by);
    Number(placement.cuts.size());
    for (const Cut& cut : placement.cuts) {
      Add(cut.group);
      Number(cut.dim);
      Number(cut.num_blocks);
      Numbers(cut.block_extents);
    }
    Number(placement.flat.has_value());
    if (placement.flat.has_value()) Add(placement.flat->group);
    // Only where there are some: other layouts keep their digests.
    if (!placement.lanes.empty()) {
      digest_.Append("lanes");
      Numbers(placement.lanes);
    }
    if (placement.listed.empty()) return;
    Number(placement.listed.size());
    for (const std::vector<int>& ranks : placement.listed) Numbers(ranks);
  }
  void Add(const ListedCopy& copy) {
    Number(copy.size());
    for (const ListedMemory& memory : copy) {
      Numbers(memory.local_shape);
      Number(memory.storage.buffer);
      Number(memory.storage.offset);
      Number(memory.regions.size());
      for (const ListedRegion& region : memory.regions) {
        Numbers(region.global.origin());
        Numbers(region.global.shape());
        Number(region.offset);
        Numbers(region.strides);
      }
    }
  }
  void Add(const TensorSpec& spec) {
    tensors_.Append(spec.name()).Append(spec.state());
    tensors_.Append(static_cast<int>(spec.dtype())).Append(spec.shape().size());
    for (int64_t extent : spec.shape()) tensors_.Append(extent);
    tensors_.Append(spec.pad_from().value_or(-1));
  }
  void Add(const Held& held) {
    Number(held.placement);
    Numbers(held.at);
    Add(Lane{held.flat, held.storage});
    if (held.listed >= 0) Number(held.listed);
    for (const Lane& lane : held.lanes) Add(lane);
  }
  void Add(const Lane& lane) {
    Number(lane.flat.position);
    Number(lane.flat.shard);
    Number(lane.storage.buffer);
    Number(lane.storage.offset);
  }

  Fingerprinter digest_;
  Fingerprinter tensors_;
};

}  // namespace

void FillDigests(LayoutBody& body) { Canonical().Digest(body); }

}  // namespace dynatrain::vps
