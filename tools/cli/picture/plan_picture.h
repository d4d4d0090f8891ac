// The picture of a plan: who sends what to whom, as a heat map by rank or node
// and one by rail; below, when: a timeline of the ports inside and between
// nodes. Legible from 2 ranks to 1,024.
#ifndef TOOLS_CLI_PICTURE_PLAN_PICTURE_H_
#define TOOLS_CLI_PICTURE_PLAN_PICTURE_H_

#include <string>

#include "absl/strings/string_view.h"
#include "transition/preview/preview.h"

namespace dynatrain::cli {

// An SVG document. `title` says what goes from which layout to which, in one
// line. Equal previews give equal texts.
std::string PlanPicture(absl::string_view title,
                        const transition::Preview& preview);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_PLAN_PICTURE_H_
