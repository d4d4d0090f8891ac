// Svg: writes the few shapes that the pictures need. Coordinates are pixels, y
// downwards; numbers are written in a fixed form, so that equal pictures are
// equal texts.
#ifndef TOOLS_CLI_PICTURE_SVG_H_
#define TOOLS_CLI_PICTURE_SVG_H_

#include <map>
#include <string>

#include "absl/strings/string_view.h"

namespace dynatrain::cli {

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
};

class Svg {
 public:
  struct TextStyle {
    double size = 11;
    absl::string_view anchor = "start";  // middle, end
    absl::string_view fill = "#212529";
    bool bold = false;
  };

  void Add(const Rect& rect, absl::string_view fill);
  // `y` is the base line.
  void Text(double x, double y, absl::string_view text, const TextStyle& style);

  // Rectangles of one colour become one path, a tenth of the size; they are
  // drawn by Flush, in the order of colours.
  void Collect(const Rect& rect, absl::string_view fill);
  void Flush();

  // A group with a tooltip; REQUIRES: closed before the next is opened.
  void Open(absl::string_view tooltip);
  void Close();

  // The whole document. Flushes.
  std::string Document(double width, double height) &&;

 private:
  std::string body_;
  std::map<std::string, std::string> paths_;  // by fill
};

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_SVG_H_
