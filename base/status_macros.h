// RETURN_IF_ERROR and ASSIGN_OR_RETURN: give an error to the caller, saying on
// the way up what was being done.
//
//   absl::StatusOr<Plan> Load(const std::string& path, int rank) {
//     RETURN_IF_ERROR(CheckReadable(path));
//     ASSIGN_OR_RETURN(const std::string text, Read(path),
//                      absl::StrCat("reading the plan of rank ", rank));
//     return Parse(text);
//   }
//
// Both take any expression of type absl::Status or absl::StatusOr<T>. The
// context is evaluated only if there is an error, and stands before the message
// ("reading the plan of rank 3: no such file"); code and payloads stay. A
// declaration with a comma outside parentheses is written in parentheses:
//   ASSIGN_OR_RETURN((const auto [begin, end]), Range());
#ifndef BASE_STATUS_MACROS_H_
#define BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace dynatrain {

// Returns `status` with "`context`: " before its message; an OK status, or one
// that gets an empty context, unchanged.
inline absl::Status WithContext(absl::Status status,
                                absl::string_view context = {}) {
  if (status.ok() || context.empty()) return status;
  absl::Status result(status.code(),
                      absl::StrCat(context, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) {
    result.SetPayload(url, payload);
  });
  return result;
}

namespace status_macros_internal {

inline absl::Status ToStatus(absl::Status status) { return status; }

template <typename T>
absl::Status ToStatus(absl::StatusOr<T> value) {
  return std::move(value).status();
}

}  // namespace status_macros_internal
}  // namespace dynatrain

// RETURN_IF_ERROR(expression [, context])
#define RETURN_IF_ERROR(expression, ...)                               \
  do {                                                                 \
    if (absl::Status dynatrain_status =                                \
            ::dynatrain::status_macros_internal::ToStatus(expression); \
        ABSL_PREDICT_FALSE(!dynatrain_status.ok())) {                  \
      return ::dynatrain::WithContext(std::move(dynatrain_status)      \
                                          __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                  \
  } while (false)

// ASSIGN_OR_RETURN(declaration or lvalue, expression [, context])
#define ASSIGN_OR_RETURN(left, expression, ...)                                \
  DYNATRAIN_ASSIGN_OR_RETURN_(DYNATRAIN_JOIN_(dynatrain_status_or_, __LINE__), \
                              left, expression __VA_OPT__(, ) __VA_ARGS__)

#define DYNATRAIN_ASSIGN_OR_RETURN_(name, left, expression, ...)            \
  auto name = (expression);                                                 \
  if (ABSL_PREDICT_FALSE(!name.ok())) {                                     \
    return ::dynatrain::WithContext(std::move(name).status() __VA_OPT__(, ) \
                                        __VA_ARGS__);                       \
  }                                                                         \
  DYNATRAIN_UNPARENTHESISED_(left) = *std::move(name)

#define DYNATRAIN_JOIN_(a, b) DYNATRAIN_JOIN_2_(a, b)
#define DYNATRAIN_JOIN_2_(a, b) a##b

// (a, b) -> a, b and c -> c: DYNATRAIN_STRIP_ is called only if `left` has its
// own parentheses; the name that is left in front either way is pasted away.
#define DYNATRAIN_UNPARENTHESISED_(left) \
  DYNATRAIN_PASTE_AWAY_(DYNATRAIN_STRIP_ left)
#define DYNATRAIN_STRIP_(...) DYNATRAIN_STRIP_ __VA_ARGS__
#define DYNATRAIN_PASTE_AWAY_(...) DYNATRAIN_PASTE_AWAY_2_(__VA_ARGS__)
#define DYNATRAIN_PASTE_AWAY_2_(...) DYNATRAIN_GONE_##__VA_ARGS__
#define DYNATRAIN_GONE_DYNATRAIN_STRIP_

#endif  // BASE_STATUS_MACROS_H_
