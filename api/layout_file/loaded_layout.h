// LoadedLayout: what a layout file says, of any framework.
#ifndef API_LAYOUT_FILE_LOADED_LAYOUT_H_
#define API_LAYOUT_FILE_LOADED_LAYOUT_H_

#include <string>

#include "vps/layout/layout.h"
#include "vps/layout/listing/list_rank.h"

namespace dynatrain::api {

struct LoadedLayout {
  std::string model;  // as the file calls it; "" if it doesn't
  std::string framework;
  std::string framework_version;
  vps::Layout layout;
  vps::LiveView live;
};

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_LOADED_LAYOUT_H_
