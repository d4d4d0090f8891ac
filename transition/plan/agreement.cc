#include "transition/plan/agreement.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace dynatrain::transition {
namespace {

struct PartName {
  absl::string_view tag;     // in texts
  absl::string_view people;  // in messages
};

// By AgreedPart.
constexpr std::array<PartName, kNumAgreedParts> kNames = {
    {{"planner", "version of the planner"},
     {"tensors", "tensors"},
     {"from", "source layout"},
     {"from_ranks", "source ranks"},
     {"to", "target layout"},
     {"to_ranks", "target ranks"},
     {"options", "options of the plan"},
     {"weights", "weights that are made anew"},
     {"senders", "balance of senders"},
     {"cluster", "figures of the cluster"},
     {"schedule", "options of the schedule"}}};

constexpr size_t kPartDigits = 8;

// The digits of a part; "" if the text doesn't have it.
absl::string_view DigitsOf(absl::string_view text, absl::string_view tag) {
  for (const absl::string_view piece : absl::StrSplit(text, '/')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(piece, absl::MaxSplits('-', 1));
    if (pair.first == tag) return pair.second;
  }
  return "";
}

}  // namespace

Agreement& Agreement::Set(AgreedPart part, const Fingerprint& fingerprint) {
  parts_[static_cast<size_t>(part)] = fingerprint;
  return *this;
}

Fingerprint Agreement::Digest() const {
  Fingerprinter digest;
  digest.Append("dynatrain agreement");
  for (const Fingerprint& part : parts_) digest.Append(part);
  return digest.Finish();
}

std::string Agreement::Text() const {
  std::string text = Digest().Hex();
  for (size_t i = 0; i < kNumAgreedParts; ++i) {
    if (parts_[i] == Fingerprint()) continue;
    absl::StrAppend(&text, "/", kNames[i].tag, "-",
                    parts_[i].Hex().substr(0, kPartDigits));
  }
  return text;
}

std::string AgreementDifference(absl::string_view text,
                                absl::string_view other) {
  if (text == other) return "";
  std::vector<absl::string_view> names;
  for (const PartName& name : kNames) {
    if (DigitsOf(text, name.tag) != DigitsOf(other, name.tag)) {
      names.push_back(name.people);
    }
  }
  if (!names.empty()) return absl::StrJoin(names, ", ");
  return absl::StrCat("digests ", text, " and ", other);
}

}  // namespace dynatrain::transition
