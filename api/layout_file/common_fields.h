// The fields of a layout file that all frameworks share.
#ifndef API_LAYOUT_FILE_COMMON_FIELDS_H_
#define API_LAYOUT_FILE_COMMON_FIELDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "api/json/reader.h"
#include "nlohmann/json.hpp"
#include "vps/model/state_list.h"

namespace dynatrain::api {

// `states: bf16-mixed` or a list of "name:dtype". Returns kInvalidArgument
// naming the field if it is missing or neither, or as StateList does.
absl::StatusOr<vps::StateList> ReadStates(const ObjectReader& root);

// What the file calls the model in its field `model`; "" if it doesn't.
std::string ModelName(const nlohmann::json& model);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_COMMON_FIELDS_H_
