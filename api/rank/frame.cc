#include "api/rank/frame.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

using nlohmann::json;

// Walks CBOR without building anything and stops at kMaxFrameDepth: the
// library's decoder recurses once per level, and a frame of nothing but
// array heads would otherwise run it off the stack.
class DepthCheck : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(size_t) override { return ++depth_ <= kMaxFrameDepth; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(size_t) override { return ++depth_ <= kMaxFrameDepth; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
};

// The one function that calls the throwing decoder.
absl::StatusOr<json> ParseCbor(absl::string_view body) {
  try {
    DepthCheck check;
    if (!json::sax_parse(body.begin(), body.end(), &check,
                         json::input_format_t::cbor)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a frame of ", body.size(),
                       " bytes is not one CBOR value nested at most ",
                       kMaxFrameDepth, " deep"));
    }
    json value = json::from_cbor(body.begin(), body.end(), /*strict=*/true,
                                 /*allow_exceptions=*/false);
    if (!value.is_discarded()) return value;
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a frame of ", body.size(), " bytes is malformed: ", error.what()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a frame of ", body.size(), " bytes is malformed CBOR"));
}

// Replaces byte strings by their size: a store value may be megabytes.
json Readable(const json& value) {
  if (value.is_binary()) {
    return absl::StrCat("<", value.get_binary().size(), " bytes>");
  }
  if (!value.is_structured()) return value;
  json copy = value;
  for (auto& child : copy) child = Readable(child);
  return copy;
}

}  // namespace

Frame::Frame(json fields)
    : kind_(fields.at("kind").get<std::string>()), fields_(std::move(fields)) {}

absl::StatusOr<Frame> Frame::Create(json fields) {
  if (!fields.is_object()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a frame must be a map with a \"kind\", not a ", fields.type_name()));
  }
  const auto kind = fields.find("kind");
  if (kind == fields.end() || !kind->is_string() ||
      kind->get_ref<const std::string&>().empty()) {
    return absl::InvalidArgumentError(
        "a frame must have a \"kind\", a non-empty string");
  }
  return Frame(std::move(fields));
}

Frame Frame::Of(json fields) {
  absl::StatusOr<Frame> frame = Create(std::move(fields));
  if (!frame.ok()) {
    std::cerr << frame.status() << std::endl;
    std::abort();
  }
  return *std::move(frame);
}

const json* Frame::Find(absl::string_view name) const {
  const auto it = fields_.find(std::string(name));
  return it == fields_.end() ? nullptr : &*it;
}

bool Frame::Has(absl::string_view name) const { return Find(name) != nullptr; }

absl::Status Frame::Wrong(absl::string_view name,
                          absl::string_view wanted) const {
  const json* value = Find(name);
  return absl::InvalidArgumentError(absl::StrCat(
      "frame \"", kind_, "\": field \"", name, "\" must be ", wanted, ", ",
      value == nullptr ? "it is absent"
                       : absl::StrCat("it is a ", value->type_name())));
}

absl::StatusOr<uint64_t> Frame::Uint(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || !value->is_number_integer()) {
    return Wrong(name, "an integer >= 0");
  }
  if (!value->is_number_unsigned() && value->get<int64_t>() < 0) {
    return Wrong(name, "an integer >= 0 (it is negative)");
  }
  return value->get<uint64_t>();
}

absl::StatusOr<int64_t> Frame::Int(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || !value->is_number_integer()) {
    return Wrong(name, "an integer");
  }
  if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX) {
    return Wrong(name, "an integer below 2^63 (it is larger)");
  }
  return value->get<int64_t>();
}

absl::StatusOr<double> Frame::Number(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || !value->is_number()) return Wrong(name, "a number");
  return value->get<double>();
}

absl::StatusOr<bool> Frame::Bool(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || !value->is_boolean()) {
    return Wrong(name, "true or false");
  }
  return value->get<bool>();
}

absl::StatusOr<std::string> Frame::Text(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || !value->is_string()) return Wrong(name, "text");
  return value->get<std::string>();
}

absl::StatusOr<std::string> Frame::Bytes(absl::string_view name) const {
  const json* value = Find(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_binary()) return Wrong(name, "a byte string");
  const auto& bytes = value->get_binary();
  return std::string(bytes.begin(), bytes.end());
}

std::string Frame::DebugString() const {
  return Readable(fields_).dump(-1, ' ', false, json::error_handler_t::replace);
}

json BinaryField(absl::string_view bytes) {
  return json::binary(std::vector<uint8_t>(bytes.begin(), bytes.end()));
}

absl::StatusOr<std::string> EncodeFrame(const Frame& frame) {
  std::string bytes(kFrameHeaderBytes, '\0');
  json::to_cbor(frame.fields(), bytes);
  const size_t body_bytes = bytes.size() - kFrameHeaderBytes;
  if (body_bytes > kMaxFrameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("frame \"", frame.kind(), "\" has ", body_bytes,
                     " bytes; at most ", kMaxFrameBytes, " are allowed"));
  }
  for (size_t i = 0; i < kFrameHeaderBytes; ++i) {
    bytes[i] = static_cast<char>(body_bytes >> (8 * i));
  }
  return bytes;
}

absl::StatusOr<Frame> DecodeFrameBody(absl::string_view body) {
  ASSIGN_OR_RETURN(json value, ParseCbor(body));
  return Frame::Create(std::move(value));
}

}  // namespace dynatrain::api
