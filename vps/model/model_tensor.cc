#include "vps/model/model_tensor.h"

#include <iterator>
#include <ostream>

#include "absl/strings/str_join.h"

namespace dynatrain::vps {
namespace {

// In the order of the enum.
constexpr absl::string_view kRoleNames[] = {
    "word embedding",
    "position embedding",
    "output layer",
    "input norm",
    "pre-mlp norm",
    "final norm",
    "attention out",
    "qkv",
    "q norm",
    "k norm",
    "q",
    "q down",
    "q up",
    "kv down",
    "kv up",
    "q latent norm",
    "kv latent norm",
    "fc1",
    "fc2",
    "router",
    "router correction",
    "expert fc1",
    "expert fc2",
    "shared expert gate",
    "shared expert fc1",
    "shared expert fc2",
    "mamba input norm",
    "mamba dt bias",
    "mamba A log",
    "mamba D",
    "mamba in",
    "mamba convolution",
    "mamba norm",
    "mamba out",
    "mtp embedding norm",
    "mtp hidden norm",
    "mtp projection",
    "mtp final norm",
};
static_assert(std::size(kRoleNames) == kNumRoles);

}  // namespace

absl::string_view RoleName(Role role) {
  return kRoleNames[static_cast<int>(role)];
}

int64_t ModelTensor::num_elements() const {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::ostream& operator<<(std::ostream& out, const ModelTensor& tensor) {
  return out << tensor.name << " [" << absl::StrJoin(tensor.shape, ", ") << "] "
             << tensor.role << (tensor.bias ? " bias" : "")
             << (tensor.is_parameter() ? "" : " (buffer)");
}

}  // namespace dynatrain::vps
