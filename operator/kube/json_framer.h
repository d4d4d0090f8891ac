// Cuts a stream of concatenated JSON objects into its objects.
//
// A watch is such a stream. The borders of HTTP chunks mean nothing in it: an
// object may span several, several may share one, and the newline between
// objects is a courtesy. Only braces outside of strings count here; whether an
// object is valid JSON is the parser's business.
#ifndef OPERATOR_KUBE_JSON_FRAMER_H_
#define OPERATOR_KUBE_JSON_FRAMER_H_

#include <cstddef>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace dynatrain::control {

class JsonFramer {
 public:
  // Above etcd's limit for one object (1.5 MiB) with room for a second copy.
  static constexpr size_t kDefaultMaxFrameBytes = 8 << 20;

  explicit JsonFramer(size_t max_frame_bytes = kDefaultMaxFrameBytes)
      : max_frame_bytes_(max_frame_bytes) {}

  // Calls `on_frame` with the text of each object that `bytes` completes.
  // kInvalidArgument if something other than an object begins between objects,
  // kResourceExhausted if an object is larger than the limit; both for ever.
  absl::Status Push(absl::string_view bytes,
                    absl::FunctionRef<void(absl::string_view)> on_frame);

  // Whether no object has begun that has not ended.
  bool AtBoundary() const { return depth_ == 0; }

 private:
  // Returns true if `c` ends an object.
  bool Step(char c);

  const size_t max_frame_bytes_;
  std::string frame_;
  int depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  absl::Status broken_;
};

}  // namespace dynatrain::control

#endif  // OPERATOR_KUBE_JSON_FRAMER_H_
