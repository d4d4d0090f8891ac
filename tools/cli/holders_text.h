// The ranks that hold something, as tables and explanations name them.
#ifndef TOOLS_CLI_HOLDERS_TEXT_H_
#define TOOLS_CLI_HOLDERS_TEXT_H_

#include <string>

#include "vps/layout/holder_set.h"

namespace dynatrain::cli {

// "rank 3"; "ranks 0, 4 .. 1020". Of very many the first are gone through, and
// ", ... (N in all)" ends the text.
std::string HoldersText(const vps::HolderSet& holders);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_HOLDERS_TEXT_H_
