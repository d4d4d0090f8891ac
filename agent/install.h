// Brings the agent and what the ranks load into a folder of the pod, from an
// init container, so that the user's image stays as it is.
#ifndef AGENT_INSTALL_H_
#define AGENT_INSTALL_H_

#include <string>

#include "absl/status/status.h"

namespace dynatrain::agent {

// Copies the binary `self`, and lib/ and python/ beside it, into `folder`. A
// part that is not there is an error, but for Python's caches. Each file is
// written under another name first, so that a container that is restarted finds
// whole files. Returns an error that names the path.
absl::Status Install(const std::string& self, const std::string& folder);

}  // namespace dynatrain::agent

#endif  // AGENT_INSTALL_H_
