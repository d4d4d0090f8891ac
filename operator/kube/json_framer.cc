#include "operator/kube/json_framer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace dynatrain::control {

bool JsonFramer::Step(char c) {
  if (escaped_) {
    escaped_ = false;
  } else if (in_string_) {
    escaped_ = c == '\\';
    in_string_ = c != '"';
  } else if (c == '"') {
    in_string_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (c == '}' || c == ']') {
    return --depth_ == 0;
  }
  return false;
}

absl::Status JsonFramer::Push(
    absl::string_view bytes,
    absl::FunctionRef<void(absl::string_view)> on_frame) {
  for (size_t i = 0; broken_.ok() && i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (depth_ == 0) {
      if (absl::ascii_isspace(static_cast<unsigned char>(c))) continue;
      if (c != '{') {
        broken_ = absl::InvalidArgumentError(
            absl::StrCat("expected a JSON object in the stream, got \"",
                         absl::CEscape(bytes.substr(i, 40)), "\""));
        break;
      }
    }
    frame_.push_back(c);
    if (Step(c)) {
      on_frame(frame_);
      frame_.clear();
    } else if (frame_.size() > max_frame_bytes_) {
      broken_ = absl::ResourceExhaustedError(
          absl::StrCat("an object of the stream has more than ",
                       max_frame_bytes_, " bytes"));
    }
  }
  return broken_;
}

}  // namespace dynatrain::control
