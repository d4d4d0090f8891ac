#include "tools/cli/text_table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dynatrain::cli {

TextTable::TextTable(std::vector<Column> columns)
    : columns_(std::move(columns)) {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  rows_.push_back(std::move(titles));
}

void TextTable::Add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

std::string TextTable::Text() const {
  std::vector<size_t> widths(columns_.size());
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      const bool right = columns_[i].align == Align::kRight;
      absl::StrAppend(&line, i == 0 ? "" : "  ", right ? space : "", row[i],
                      right ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Grouped(int64_t number) {
  const std::string digits = absl::StrCat(number);
  const size_t sign = number < 0 ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > sign && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string BytesText(int64_t bytes) {
  if (bytes < 1000) return absl::StrCat(bytes, " B");
  constexpr std::array<const char*, 6> kUnits = {"kB", "MB", "GB",
                                                 "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) {
    value /= 1000;
  }
  return absl::StrFormat("%.3g %s", value, kUnits[unit]);
}

std::string TimeText(int64_t ns) {
  const double ms = static_cast<double>(ns) / 1e6;
  if (ms >= 9'999.5) return absl::StrFormat("%.1f s", ms / 1e3);
  if (ms >= 999.5) return absl::StrFormat("%.2f s", ms / 1e3);
  if (ms >= 99.5) return absl::StrFormat("%.0f ms", ms);
  return absl::StrFormat("%.3g ms", ms);
}

bool MatchesGlob(absl::string_view glob, absl::string_view text) {
  // On a mismatch, the last star takes one character more.
  size_t g = 0, t = 0, star = absl::string_view::npos, taken = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      taken = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != absl::string_view::npos) {
      g = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace dynatrain::cli
