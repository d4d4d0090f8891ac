// Is a text UTF-8? What ranks say goes into protobuf's strings, which a reader
// refuses to parse if they aren't.
#ifndef AGENT_UTF8_H_
#define AGENT_UTF8_H_

#include "absl/strings/string_view.h"

namespace dynatrain::agent {

// Neither surrogates, overlong forms, nor anything above U+10FFFF.
bool IsUtf8(absl::string_view text);

}  // namespace dynatrain::agent

#endif  // AGENT_UTF8_H_
