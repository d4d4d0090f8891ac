// Columns of text for a terminal, and numbers as people read them.
#ifndef TOOLS_CLI_TEXT_TABLE_H_
#define TOOLS_CLI_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dynatrain::cli {

class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit TextTable(std::vector<Column> columns);

  // REQUIRES: as many cells as columns.
  void Add(std::vector<std::string> row);
  // Titles and rows, two spaces between columns, none at the end of a line.
  std::string Text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 1234567 -> "1,234,567".
std::string Grouped(int64_t number);

// In powers of 1000: 999 -> "999 B", 8620000000 -> "8.62 GB".
std::string BytesText(int64_t bytes);

// "0 ms", "0.35 ms", "359 ms", "4.36 s", "43.6 s".
std::string TimeText(int64_t ns);

// Whether `text` matches `glob`: * stands for any characters, ? for one, and
// all else for itself; brackets too, as tensor names may have them.
// O(|glob| |text|).
bool MatchesGlob(absl::string_view glob, absl::string_view text);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_TEXT_TABLE_H_
