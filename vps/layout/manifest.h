// Manifest: all tensors of a job with their shardings, sorted by (name, state).
// It is made once per job and valid for any axis sizes, so operator and ranks
// predict from it layouts that nobody runs yet. Copies share one body.
//
//   ASSIGN_OR_RETURN(Manifest manifest, Manifest::Create(std::move(entries)));
//   manifest.tensor(7).spec.DebugString();
//   if (live != manifest) return FailedPrecondition(Difference(manifest,
//   live));
#ifndef VPS_LAYOUT_MANIFEST_H_
#define VPS_LAYOUT_MANIFEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/fingerprint.h"
#include "vps/layout/sharding.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::vps {

struct ManifestTensor {
  TensorSpec spec;
  Sharding sharding;

  // "layers.0.weight/param float32 [8, 4] tp:0 dp:0".
  std::string DebugString() const;
  friend bool operator==(const ManifestTensor&,
                         const ManifestTensor&) = default;
};

class Manifest {
 public:
  // The empty manifest.
  Manifest();

  // Sorts. Returns kInvalidArgument naming the tensor and the field if two have
  // the same (name, state), a sharding is invalid, or all bytes together do not
  // fit 63 bits.
  static absl::StatusOr<Manifest> Create(std::vector<ManifestTensor> tensors);

  int size() const { return static_cast<int>(body_->tensors.size()); }
  // REQUIRES: 0 <= index < size().
  const ManifestTensor& tensor(int index) const {
    return body_->tensors[index];
  }
  absl::Span<const ManifestTensor> tensors() const { return body_->tensors; }
  // The index of the tensor, in O(log size).
  std::optional<int> Find(absl::string_view name,
                          absl::string_view state) const;
  // Of all tensors, each counted once.
  int64_t num_bytes() const { return body_->num_bytes; }
  // Over a canonical binary form: equal exactly if the manifests are.
  const Fingerprint& digest() const { return body_->digest; }

  friend bool operator==(const Manifest& a, const Manifest& b) {
    return a.body_->tensors == b.body_->tensors;
  }

 private:
  struct Body {
    std::vector<ManifestTensor> tensors;
    int64_t num_bytes = 0;
    Fingerprint digest;
  };

  explicit Manifest(std::shared_ptr<const Body> body);

  std::shared_ptr<const Body> body_;  // never null
};

// "" if they are equal. Else how they differ, for a person: at most `max_lines`
// lines, one per tensor in order, then how many more there are.
//   only in expected: layers.1.bias/param float32 [8] replicated
//   layers.1.weight/param: shape [8, 4] in expected, [8, 6] in actual
std::string Difference(const Manifest& expected, const Manifest& actual,
                       int max_lines = 10);

inline std::ostream& operator<<(std::ostream& out, const ManifestTensor& t) {
  return out << t.DebugString();
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_MANIFEST_H_
