#include "vps/layout/manifest.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "vps/geometry/checked.h"

namespace dynatrain::vps {
namespace {

using Key = std::pair<absl::string_view, absl::string_view>;

Key KeyOf(const ManifestTensor& tensor) {
  return {tensor.spec.name(), tensor.spec.state()};
}

// The canonical form: raise its version if a field is added.
Fingerprint DigestOf(absl::Span<const ManifestTensor> tensors) {
  Fingerprinter digest;
  digest.Append("dynatrain manifest 1").Append(tensors.size());
  for (const ManifestTensor& tensor : tensors) {
    const TensorSpec& spec = tensor.spec;
    digest.Append(spec.name()).Append(spec.state());
    digest.Append(static_cast<int>(spec.dtype())).Append(spec.shape().size());
    for (int64_t extent : spec.shape()) digest.Append(extent);
    digest.Append(tensor.sharding.size());
    for (const Split& split : tensor.sharding) {
      digest.Append(split.axis).Append(split.dim);
    }
  }
  return digest.Finish();
}

std::string ShapeText(const TensorSpec& spec) {
  return absl::StrCat("[", absl::StrJoin(spec.shape(), ", "), "]");
}

// How two tensors of the same key differ.
std::string FieldDifference(const ManifestTensor& expected,
                            const ManifestTensor& actual) {
  std::vector<std::string> fields;
  const auto compare = [&](absl::string_view field, const std::string& a,
                           const std::string& b) {
    if (a == b) return;
    fields.push_back(
        absl::StrCat(field, " ", a, " in expected, ", b, " in actual"));
  };
  compare("shape", ShapeText(expected.spec), ShapeText(actual.spec));
  compare("dtype", std::string(DtypeName(expected.spec.dtype())),
          std::string(DtypeName(actual.spec.dtype())));
  compare("splits", DebugString(expected.sharding),
          DebugString(actual.sharding));
  return absl::StrCat(expected.spec.Id(), ": ", absl::StrJoin(fields, "; "));
}

}  // namespace

std::string ManifestTensor::DebugString() const {
  return absl::StrCat(spec.DebugString(), " ",
                      ::dynatrain::vps::DebugString(sharding));
}

Manifest::Manifest() : Manifest(*Create({})) {}

Manifest::Manifest(std::shared_ptr<const Body> body) : body_(std::move(body)) {}

absl::StatusOr<Manifest> Manifest::Create(std::vector<ManifestTensor> tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const ManifestTensor& a, const ManifestTensor& b) {
              return KeyOf(a) < KeyOf(b);
            });
  auto body = std::make_shared<Body>();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorSpec& spec = tensors[i].spec;
    if (i > 0 && KeyOf(tensors[i - 1]) == KeyOf(tensors[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", spec.Id(), " is there twice"));
    }
    RETURN_IF_ERROR(ValidateSharding(tensors[i].sharding, spec.whole().dims()),
                    absl::StrCat("tensor ", spec.Id()));
    const auto sum = CheckedAdd(body->num_bytes, spec.num_bytes());
    if (!sum.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("up to tensor ", spec.Id(),
                       " there are more bytes than fit 63 bits"));
    }
    body->num_bytes = *sum;
  }
  body->digest = DigestOf(tensors);
  body->tensors = std::move(tensors);
  return Manifest(std::move(body));
}

std::optional<int> Manifest::Find(absl::string_view name,
                                  absl::string_view state) const {
  const Key key = {name, state};
  const auto it =
      std::lower_bound(body_->tensors.begin(), body_->tensors.end(), key,
                       [](const ManifestTensor& tensor, const Key& key) {
                         return KeyOf(tensor) < key;
                       });
  if (it == body_->tensors.end() || KeyOf(*it) != key) return std::nullopt;
  return static_cast<int>(it - body_->tensors.begin());
}

std::string Difference(const Manifest& expected, const Manifest& actual,
                       int max_lines) {
  std::vector<std::string> lines;
  int64_t differences = 0;
  const auto add = [&](auto make_line) {
    if (++differences <= max_lines) lines.push_back(make_line());
  };
  const auto only_in = [&](absl::string_view side, const ManifestTensor& t) {
    add([&] { return absl::StrCat("only in ", side, ": ", t.DebugString()); });
  };
  // Both are sorted: one merge.
  int e = 0, a = 0;
  while (e < expected.size() || a < actual.size()) {
    if (a == actual.size() ||
        (e < expected.size() &&
         KeyOf(expected.tensor(e)) < KeyOf(actual.tensor(a)))) {
      only_in("expected", expected.tensor(e++));
    } else if (e == expected.size() ||
               KeyOf(actual.tensor(a)) < KeyOf(expected.tensor(e))) {
      only_in("actual", actual.tensor(a++));
    } else {
      const ManifestTensor& want = expected.tensor(e++);
      const ManifestTensor& have = actual.tensor(a++);
      if (want != have) add([&] { return FieldDifference(want, have); });
    }
  }
  if (differences > max_lines) {
    lines.push_back(
        absl::StrCat("and ", differences - max_lines, " more tensors"));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace dynatrain::vps
