// Short ways to write listings in tests.
#ifndef VPS_LAYOUT_LISTING_LISTING_TESTUTIL_H_
#define VPS_LAYOUT_LISTING_LISTING_TESTUTIL_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "vps/layout/listing/listing.h"

namespace dynatrain::vps {

inline ListedRegion Listed(absl::Span<const int64_t> origin,
                           absl::Span<const int64_t> shape, int64_t offset,
                           absl::Span<const int64_t> strides) {
  ListedRegion region = {Box::CreateUnchecked(origin, shape), offset, {}};
  std::copy(strides.begin(), strides.end(), region.strides.begin());
  return region;
}

inline ListedTensor Listed(std::string name, std::string state,
                           absl::Span<const int64_t> shape,
                           std::vector<int64_t> local_shape,
                           std::vector<ListedRegion> regions) {
  return {*TensorSpec::Create(std::move(name), std::move(state),
                              Dtype::kFloat32, shape),
          /*live_name=*/"", std::move(local_shape), std::move(regions)};
}

}  // namespace dynatrain::vps

#endif  // VPS_LAYOUT_LISTING_LISTING_TESTUTIL_H_
