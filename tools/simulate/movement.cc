#include "tools/simulate/movement.h"

namespace dynatrain::simulate {

const char* ResourceName(Resource resource) {
  switch (resource) {
    case Resource::kNetwork:
      return "network";
    case Resource::kDevice:
      return "device";
    case Resource::kDigest:
      return "digest";
    case Resource::kHostLink:
      return "host link";
    case Resource::kStorage:
      return "storage";
  }
  return "?";
}

}  // namespace dynatrain::simulate
