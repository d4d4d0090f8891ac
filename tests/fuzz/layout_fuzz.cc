// Any text as a layout file, in YAML or JSON, or a layout in one word: it is
// refused with a reason, or it is a layout that can be walked, if it is small.
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "api/layout_file/layout_file.h"
#include "api/layout_text/layout_text.h"
#include "tests/fuzz/layout_walk.h"

namespace dynatrain {
namespace {

void CheckLoaded(const absl::StatusOr<api::LoadedLayout>& loaded) {
  if (!loaded.ok()) {
    fuzz::Require(!loaded.status().message().empty());
    return;
  }
  if (fuzz::IsSmall(loaded->layout)) fuzz::Walk(loaded->layout);
}

// Of a model that is quickly listed.
void CheckWord(absl::string_view text, api::ReadText read) {
  const absl::StatusOr<api::LayoutText> word = api::LayoutText::Parse(text);
  if (!word.ok()) {
    fuzz::Require(!word.status().message().empty());
    return;
  }
  fuzz::Require(*api::LayoutText::Parse(word->ToString()) == *word);
  const nlohmann::json model = {{"family", "llama"}, {"hidden", 32},
                                {"layers", 4},       {"heads", 4},
                                {"ffn", 64},         {"vocabulary", 64}};
  CheckLoaded(
      api::LoadLayoutTree(word->ToFile(model, {"param:float32"}), read));
}

}  // namespace
}  // namespace dynatrain

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  // No other file: a model of its own is fuzzed by model_fuzz.
  const auto read = [](absl::string_view) -> absl::StatusOr<std::string> {
    return absl::NotFoundError("there is no file");
  };
  dynatrain::CheckLoaded(dynatrain::api::LoadLayout(text, read));
  dynatrain::CheckWord(text, read);
  return 0;
}
