// Colours of the pictures.
#ifndef TOOLS_CLI_PICTURE_PALETTE_H_
#define TOOLS_CLI_PICTURE_PALETTE_H_

#include <cstdint>
#include <string>

namespace dynatrain::cli {

inline constexpr char kInk[] = "#212529";       // text
inline constexpr char kFaintInk[] = "#868e96";  // lesser text
inline constexpr char kWhole[] = "#adb5bd";     // all of it, on every rank

// Part `index` of `count`: from blue by green and red to violet, "#1c7ed6".
// Equal parts of equal counts have equal colours.
std::string PartColour(int index, int count);

// Two scales that are told apart by hue, and each step by lightness.
enum class Heat {
  kInside,   // yellow to brown
  kBetween,  // light to dark blue
};

// Of 0 < bytes <= most; the least is still to be seen on white.
std::string HeatColour(Heat heat, int64_t bytes, int64_t most);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PALETTE_H_
