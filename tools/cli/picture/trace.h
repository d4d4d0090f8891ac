// The timeline of a plan as a trace that Perfetto and chrome://tracing open, in
// the JSON object form of Google's "Trace Event Format": a process per node, a
// thread per port and direction, a complete event ("X", ts and dur in
// microseconds) per parcel, or per group of parcels that go together.
#ifndef TOOLS_CLI_PICTURE_TRACE_H_
#define TOOLS_CLI_PICTURE_TRACE_H_

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "transition/preview/preview.h"

namespace dynatrain::cli {

// Gives the text to `write` piece by piece: of large plans it is long. `title`
// as in PlanPicture.
void WriteTrace(absl::string_view title, const transition::Preview& preview,
                absl::FunctionRef<void(absl::string_view)> write);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_PICTURE_TRACE_H_
