// FIELDS. A dump may say more than is read here (values, groups): what isn't
// known is passed over. Absent are: `live_name` (""), `framework_version`
// (""), `buffers` (none), `pad_from` (no padding), `buffer` and `buffer_offset`
// (memory of its own), and of a region `offset` (0) and `strides` (those of the
// row-major local tensor).
#include "api/listing/json_codec.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "api/json/reader.h"
#include "base/status_macros.h"
#include "vps/geometry/box.h"
#include "vps/layout/axis_sizes.h"
#include "vps/model/dtype.h"
#include "vps/model/tensor_spec.h"

namespace dynatrain::api {
namespace {

using Json = nlohmann::json;
using nlohmann::ordered_json;
using vps::ListedBuffer;
using vps::ListedRegion;
using vps::ListedTensor;
using vps::RankListing;

constexpr int kVersion = 1;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

absl::Status Invalid(absl::string_view what) {
  return absl::InvalidArgumentError(what);
}

// REQUIRES: at most kMaxDims dims.
vps::Strides RowMajor(absl::Span<const int64_t> shape) {
  vps::Strides strides = {};
  // A shape that doesn't fit is refused later; here it must not overflow.
  uint64_t stride = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(1, shape[dim]));
  }
  return strides;
}

absl::StatusOr<ListedRegion> ReadRegion(ObjectReader reader,
                                        const ListedTensor& tensor) {
  reader.Require({"origin", "shape"});
  const std::vector<int64_t> origin = reader.Ints("origin", 0, kMax);
  const std::vector<int64_t> shape = reader.Ints("shape", 0, kMax);
  ListedRegion region;
  region.offset = reader.Int("offset", 0, kMax, 0);
  const std::vector<int64_t> strides = reader.Ints("strides", -kMax, kMax);
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(region.global, vps::Box::Create(origin, shape),
                   reader.Path("origin"));
  const bool given = reader.Has("strides");
  const size_t dims = given ? strides.size() : tensor.local_shape.size();
  if (dims != origin.size()) {
    return Invalid(absl::StrCat(
        reader.Path("strides"), ": ", given ? "there are " : "absent, and ",
        dims, given ? "" : " dims in local_shape", ", not one per dim of the ",
        origin.size(), " of the region"));
  }
  if (given) {
    std::copy(strides.begin(), strides.end(), region.strides.begin());
  } else {
    region.strides = RowMajor(tensor.local_shape);
  }
  return region;
}

absl::StatusOr<vps::TensorSpec> ReadSpec(ObjectReader& reader) {
  reader.Require({"name", "state", "dtype", "shape", "regions"});
  std::string name = reader.Text("name");
  std::string state = reader.Text("state");
  const std::string dtype_name = reader.Text("dtype");
  const std::vector<int64_t> shape = reader.Ints("shape", 0, kMax);
  std::optional<int64_t> pad_from;
  if (reader.Has("pad_from")) pad_from = reader.Int("pad_from", 0, kMax, 0);
  RETURN_IF_ERROR(reader.status());
  ASSIGN_OR_RETURN(const vps::Dtype dtype, vps::ParseDtype(dtype_name),
                   reader.Path("dtype"));
  ASSIGN_OR_RETURN(vps::TensorSpec spec,
                   vps::TensorSpec::Create(std::move(name), std::move(state),
                                           dtype, shape, pad_from),
                   reader.path());
  return spec;
}

absl::StatusOr<ListedTensor> ReadTensor(const Json& json, std::string path) {
  ObjectReader reader(json, std::move(path));
  ASSIGN_OR_RETURN(vps::TensorSpec spec, ReadSpec(reader));
  ListedTensor tensor = {std::move(spec), reader.Text("live_name"), {}, {}};
  reader.Require({"local_shape"});
  tensor.local_shape = reader.Ints("local_shape", 0, kMax);
  tensor.buffer = reader.Text("buffer");
  tensor.buffer_offset = reader.Int("buffer_offset", 0, kMax, 0);
  for (const ObjectReader& element : reader.List("regions")) {
    ASSIGN_OR_RETURN(ListedRegion region, ReadRegion(element, tensor));
    tensor.regions.push_back(region);
  }
  RETURN_IF_ERROR(reader.status());
  return tensor;
}

absl::StatusOr<ListedBuffer> ReadBuffer(const Json& json, std::string path) {
  ObjectReader reader(json, std::move(path));
  reader.Require({"name", "elements"});
  ListedBuffer buffer;
  buffer.name = reader.Text("name");
  buffer.elements = reader.Int("elements", 0, kMax, 0);
  for (ObjectReader& element : reader.List("buckets")) {
    element.Require({"begin", "end", "unpadded"});
    buffer.buckets.push_back({element.Int("begin", 0, kMax, 0),
                              element.Int("end", 0, kMax, 0),
                              element.Int("unpadded", 0, kMax, 0)});
    reader.Merge(element.status());
  }
  for (ObjectReader& element : reader.List("tensors")) {
    element.Require({"live_name", "begin", "end"});
    buffer.tensors.push_back({element.Text("live_name"),
                              element.Int("begin", 0, kMax, 0),
                              element.Int("end", 0, kMax, 0)});
    reader.Merge(element.status());
  }
  RETURN_IF_ERROR(reader.status());
  return buffer;
}

// Takes tensors and buffers out of the tree as soon as they are read, so that
// only the tree of one of them is ever in memory.
class Decoder {
 public:
  absl::StatusOr<vps::Listing> Decode(absl::string_view text) {
    const auto filter = [this](int depth, Json::parse_event_t event,
                               Json& value) {
      return Visit(depth, event, value);
    };
    absl::StatusOr<Json> root = ParseJson(text, filter);
    RETURN_IF_ERROR(root.status());
    RETURN_IF_ERROR(status_);
    return Finish(*root);
  }

 private:
  // Depths of the objects {listing}.ranks[{rank}.tensors[{tensor}]].
  static constexpr int kRankDepth = 2;
  static constexpr int kItemDepth = 4;
  // A tensor's regions' shapes lie at 7. Deeper is refused while parsing:
  // destroying a deep value recurses.
  static constexpr int kMaxDepth = 16;

  // False to leave `value` out of the tree.
  bool Visit(int depth, Json::parse_event_t event, Json& value) {
    if (depth > kMaxDepth) Fail(Invalid("nested too deep for a listing"));
    if (!status_.ok()) return false;
    if (event == Json::parse_event_t::key) {
      if (depth == 1) root_key_ = value.get<std::string>();
      if (depth == kRankDepth + 1) rank_key_ = value.get<std::string>();
      return true;
    }
    if (event != Json::parse_event_t::object_end || root_key_ != "ranks") {
      return true;
    }
    if (depth == kRankDepth) return TakeRank(value);
    if (depth != kItemDepth) return true;
    return rank_key_ == "tensors"   ? TakeTensor(value)
           : rank_key_ == "buffers" ? TakeBuffer(value)
                                    : true;
  }

  std::string RankPath() const {
    return absl::StrCat("ranks[", ranks_.size(), "]");
  }

  bool TakeTensor(const Json& value) {
    absl::StatusOr<ListedTensor> tensor = ReadTensor(
        value,
        absl::StrCat(RankPath(), ".tensors[", rank_.tensors.size(), "]"));
    if (!tensor.ok()) return Fail(tensor.status());
    rank_.tensors.push_back(*std::move(tensor));
    return false;
  }

  bool TakeBuffer(const Json& value) {
    absl::StatusOr<ListedBuffer> buffer = ReadBuffer(
        value,
        absl::StrCat(RankPath(), ".buffers[", rank_.buffers.size(), "]"));
    if (!buffer.ok()) return Fail(buffer.status());
    rank_.buffers.push_back(*std::move(buffer));
    return false;
  }

  bool TakeRank(const Json& value) {
    ObjectReader reader(value, RankPath());
    reader.Require({"rank", "tensors"});
    rank_.rank =
        static_cast<int>(reader.Int("rank", 0, vps::kMaxWorldSize - 1, 0));
    for (const char* key : {"tensors", "buffers"}) {
      // Objects were taken out; whatever is left is none.
      if (!reader.List(key).empty()) reader.Refuse(key, "has no objects only");
    }
    if (!reader.status().ok()) return Fail(reader.status());
    ranks_.push_back(std::move(rank_));
    rank_ = {};
    return false;
  }

  bool Fail(absl::Status status) {
    status_.Update(status);
    return false;
  }

  absl::StatusOr<vps::Listing> Finish(const Json& root) {
    ObjectReader reader(root, "");
    reader.Require({"version", "framework", "world_size", "ranks"});
    reader.Int("version", kVersion, kVersion, kVersion);
    std::string framework = reader.Text("framework");
    std::string framework_version = reader.Text("framework_version");
    const int64_t world_size =
        reader.Int("world_size", 1, vps::kMaxWorldSize, 1);
    if (!reader.List("ranks").empty()) {
      reader.Refuse("ranks", "has no objects only");
    }
    RETURN_IF_ERROR(reader.status());
    return vps::Listing::Create(std::move(framework),
                                std::move(framework_version), world_size,
                                std::move(ranks_));
  }

  std::string root_key_;
  std::string rank_key_;
  RankListing rank_;  // so far
  std::vector<RankListing> ranks_;
  absl::Status status_;
};

// Goes through a text up to the first key by which a listing and a layout file
// differ.
class KeyFinder : public nlohmann::json_sax<Json> {
 public:
  bool is_listing() const { return is_listing_; }

  bool key(string_t& key) override {
    if (depth_ != 1) return true;
    constexpr absl::string_view kOfListings[] = {"world_size", "ranks",
                                                 "framework_version"};
    constexpr absl::string_view kOfLayoutFiles[] = {"world", "model",
                                                    "parallelism", "states"};
    is_listing_ = absl::c_linear_search(kOfListings, key);
    return !is_listing_ && !absl::c_linear_search(kOfLayoutFiles, key);
  }
  bool start_object(size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(); }
  bool end_array() override { return Close(); }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool parse_error(size_t, const std::string&,
                   const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool Open() {
    ++depth_;
    return true;
  }
  bool Close() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  bool is_listing_ = false;
};

ordered_json NumbersJson(absl::Span<const int64_t> numbers) {
  ordered_json json = ordered_json::array();
  for (int64_t number : numbers) json.push_back(number);
  return json;
}

ordered_json TensorJson(const ListedTensor& tensor) {
  ordered_json regions = ordered_json::array();
  for (const ListedRegion& region : tensor.regions) {
    regions.push_back(
        {{"origin", NumbersJson(region.global.origin())},
         {"shape", NumbersJson(region.global.shape())},
         {"offset", region.offset},
         {"strides", NumbersJson(absl::MakeConstSpan(region.strides)
                                     .subspan(0, region.global.dims()))}});
  }
  ordered_json json = {{"name", tensor.spec.name()},
                       {"live_name", tensor.live_name},
                       {"state", tensor.spec.state()},
                       {"dtype", std::string(DtypeName(tensor.spec.dtype()))},
                       {"shape", NumbersJson(tensor.spec.shape())},
                       {"local_shape", NumbersJson(tensor.local_shape)}};
  if (tensor.spec.pad_from().has_value()) {
    json["pad_from"] = *tensor.spec.pad_from();
  }
  if (!tensor.buffer.empty()) {
    json["buffer"] = tensor.buffer;
    json["buffer_offset"] = tensor.buffer_offset;
  }
  json["regions"] = std::move(regions);
  return json;
}

ordered_json BufferJson(const ListedBuffer& buffer) {
  ordered_json buckets = ordered_json::array();
  for (const ListedBuffer::Bucket& bucket : buffer.buckets) {
    buckets.push_back({{"begin", bucket.begin},
                       {"end", bucket.end},
                       {"unpadded", bucket.unpadded}});
  }
  ordered_json tensors = ordered_json::array();
  for (const ListedBuffer::Entry& entry : buffer.tensors) {
    tensors.push_back({{"live_name", entry.live_name},
                       {"begin", entry.begin},
                       {"end", entry.end}});
  }
  return {{"name", buffer.name},
          {"elements", buffer.elements},
          {"buckets", std::move(buckets)},
          {"tensors", std::move(tensors)}};
}

// Names that are no UTF-8 can't come from JSON, but could from a caller.
std::string Dump(const ordered_json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool IsListing(absl::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == absl::string_view::npos || text[first] != '{') return false;
  KeyFinder finder;
  Json::sax_parse(text.begin(), text.end(), &finder);
  return finder.is_listing();
}

absl::StatusOr<vps::Listing> DecodeListing(absl::string_view text) {
  if (text.size() > kMaxListingBytes) {
    return Invalid(absl::StrCat("listing: ", text.size(), " bytes; at most ",
                                kMaxListingBytes));
  }
  absl::StatusOr<vps::Listing> listing = Decoder().Decode(text);
  RETURN_IF_ERROR(listing.status(), "listing");
  return listing;
}

ListingEncoder::ListingEncoder(const World& world, Sink sink) : sink_(sink) {
  sink_(absl::StrCat("{\"version\": ", kVersion,
                     ", \"framework\": ", Dump(world.framework),
                     ", \"framework_version\": ", Dump(world.framework_version),
                     ", \"world_size\": ", world.world_size, ", \"ranks\": ["));
}

void ListingEncoder::Add(const RankListing& rank) {
  sink_(absl::StrCat(first_ ? "" : ",", "\n{\"rank\": ", rank.rank,
                     ", \"tensors\": ["));
  first_ = false;
  const char* separator = "\n";
  for (const ListedTensor& tensor : rank.tensors) {
    sink_(absl::StrCat(separator, Dump(TensorJson(tensor))));
    separator = ",\n";
  }
  sink_("], \"buffers\": [");
  separator = "\n";
  for (const ListedBuffer& buffer : rank.buffers) {
    sink_(absl::StrCat(separator, Dump(BufferJson(buffer))));
    separator = ",\n";
  }
  sink_("]}");
}

void ListingEncoder::Finish() { sink_("]}\n"); }

std::string EncodeListing(const vps::Listing& listing) {
  std::string text;
  const auto append = [&](absl::string_view part) {
    absl::StrAppend(&text, part);
  };
  ListingEncoder encoder(
      {listing.framework(), listing.framework_version(), listing.world_size()},
      append);
  for (const RankListing& rank : listing.ranks()) encoder.Add(rank);
  encoder.Finish();
  return text;
}

}  // namespace dynatrain::api
