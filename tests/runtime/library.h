// libdynatrain.so, loaded as Python loads it.
#ifndef TESTS_RUNTIME_LIBRARY_H_
#define TESTS_RUNTIME_LIBRARY_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "agent/runtime/dynatrain.h"
#include "nlohmann/json.hpp"

namespace dynatrain::runtime {

// Dies if the library can't be loaded or lacks a function.
struct Library {
  explicit Library(const char* path) : handle(dlopen(path, RTLD_NOW)) {
    if (handle == nullptr) {
      fprintf(stderr, "%s\n", dlerror());
      abort();
    }
  }

  template <typename Function>
  Function* Get(const char* name) const {
    void* symbol = dlsym(handle, name);
    if (symbol == nullptr) {
      fprintf(stderr, "%s\n", dlerror());
      abort();
    }
    return reinterpret_cast<Function*>(symbol);
  }

  // Takes over and frees a text of the library.
  nlohmann::json TakeJson(char* text) const {
    nlohmann::json value = nlohmann::json::parse(text);
    free_(text);
    return value;
  }
  std::string TakeBytes(void* bytes, size_t len) const {
    std::string copy(static_cast<const char*>(bytes), len);
    free_(bytes);
    return copy;
  }

  void* handle;
  decltype(dt_free)* free_ = Get<decltype(dt_free)>("dt_free");
  decltype(dt_error)* error = Get<decltype(dt_error)>("dt_error");
  decltype(dt_open)* open = Get<decltype(dt_open)>("dt_open");
  decltype(dt_close)* close = Get<decltype(dt_close)>("dt_close");
  decltype(dt_next)* next = Get<decltype(dt_next)>("dt_next");
  decltype(dt_report)* report = Get<decltype(dt_report)>("dt_report");
  decltype(dt_plan)* plan = Get<decltype(dt_plan)>("dt_plan");
  decltype(dt_bind)* bind = Get<decltype(dt_bind)>("dt_bind");
  decltype(dt_put_blob)* put_blob = Get<decltype(dt_put_blob)>("dt_put_blob");
  decltype(dt_get_blob)* get_blob = Get<decltype(dt_get_blob)>("dt_get_blob");
  decltype(dt_boundary)* boundary = Get<decltype(dt_boundary)>("dt_boundary");
  decltype(dt_transfer)* transfer = Get<decltype(dt_transfer)>("dt_transfer");
  decltype(dt_drop)* drop = Get<decltype(dt_drop)>("dt_drop");
  decltype(dt_store)* store = Get<decltype(dt_store)>("dt_store");
};

}  // namespace dynatrain::runtime

#endif  // TESTS_RUNTIME_LIBRARY_H_
