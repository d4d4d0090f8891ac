// LayoutText: the layout of a Megatron job in one word, as people say it.
//
//   ASSIGN_OR_RETURN(LayoutText text, LayoutText::Parse("tp8,pp4,dp4"));
//   text.ToFile("llama2-70b", "bf16-mixed")   // the tree of a layout file
//
// Entries are a name and a number, in any order, each once:
//   tp pp dp cp ep etp   sizes of the axes; what is not given is 1, and etp is
//                        as tp, as Megatron has it
//   vpp                  chunks per pipeline stage (1)
//   first, last          layers of the first and of the last stage
//   zero                 1: the distributed optimizer (the default), 0: none
//   instances            copies of the sharded optimizer state (1)
//   world                ranks; else tp x pp x dp x cp. With it, dp follows
//
// All else a job may say is for a layout file (api/layout_file).
#ifndef API_LAYOUT_TEXT_LAYOUT_TEXT_H_
#define API_LAYOUT_TEXT_LAYOUT_TEXT_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace dynatrain::api {

class LayoutText {
 public:
  // Whether `text` is meant as one rather than as the path of a file.
  static bool Is(absl::string_view text);

  // Returns kInvalidArgument naming the entry, with what was probably meant, if
  // it is no name and number, comes twice or is out of range; or if both dp and
  // world are given.
  static absl::StatusOr<LayoutText> Parse(absl::string_view text);

  // Of the entries, in the order in which they were given.
  std::vector<absl::string_view> names() const;
  // The number of the entry; nullopt if it isn't given.
  std::optional<int64_t> Get(absl::string_view name) const;
  // The same layout with another number. REQUIRES: a name from above.
  LayoutText With(absl::string_view name, int64_t number) const;

  // `world`, or the product of the dense axes.
  int64_t world_size() const;

  // As a layout file has it; `model` and `states` are its fields.
  nlohmann::json ToFile(const nlohmann::json& model,
                        const nlohmann::json& states) const;

  // The entries in the order in which they were given.
  std::string ToString() const;

  friend bool operator==(const LayoutText&, const LayoutText&) = default;

 private:
  struct Entry {
    std::string name;
    int64_t number = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  LayoutText() = default;

  std::vector<Entry> entries_;
};

inline std::ostream& operator<<(std::ostream& out, const LayoutText& text) {
  return out << text.ToString();
}

}  // namespace dynatrain::api

#endif  // API_LAYOUT_TEXT_LAYOUT_TEXT_H_
