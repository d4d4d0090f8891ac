#include "tools/cli/picture/svg.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace dynatrain::cli {
namespace {

// At most two decimals, no zeros at the end.
std::string Number(double value) {
  std::string text = absl::StrFormat("%.2f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

void Svg::Add(const Rect& rect, absl::string_view fill) {
  absl::StrAppend(&body_, "<rect x=\"", Number(rect.x), "\" y=\"",
                  Number(rect.y), "\" width=\"", Number(rect.width),
                  "\" height=\"", Number(rect.height), "\" fill=\"", fill,
                  "\"/>\n");
}

void Svg::Text(double x, double y, absl::string_view text,
               const TextStyle& style) {
  absl::StrAppend(&body_, "<text x=\"", Number(x), "\" y=\"", Number(y),
                  "\" font-size=\"", Number(style.size), "\" text-anchor=\"",
                  style.anchor, "\" fill=\"", style.fill, "\"",
                  style.bold ? " font-weight=\"bold\"" : "", ">", Escaped(text),
                  "</text>\n");
}

void Svg::Collect(const Rect& rect, absl::string_view fill) {
  absl::StrAppend(&paths_[std::string(fill)], "M", Number(rect.x), " ",
                  Number(rect.y), "h", Number(rect.width), "v",
                  Number(rect.height), "h", Number(-rect.width), "z");
}

void Svg::Flush() {
  for (const auto& [fill, path] : paths_) {
    absl::StrAppend(&body_, "<path fill=\"", fill, "\" d=\"", path, "\"/>\n");
  }
  paths_.clear();
}

void Svg::Open(absl::string_view tooltip) {
  Flush();
  absl::StrAppend(&body_, "<g><title>", Escaped(tooltip), "</title>\n");
}

void Svg::Close() {
  Flush();
  body_ += "</g>\n";
}

std::string Svg::Document(double width, double height) && {
  Flush();
  return absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", Number(width),
      "\" height=\"", Number(height), "\" viewBox=\"0 0 ", Number(width), " ",
      Number(height),
      "\" font-family=\"Helvetica, Arial, sans-serif\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      body_, "</svg>\n");
}

}  // namespace dynatrain::cli
