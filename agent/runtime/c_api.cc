// The C ABI of dynatrain.h over Session: texts and errors, nothing else.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/runtime/dynatrain.h"
#include "agent/runtime/session.h"
#include "agent/runtime/session_config.h"
#include "api/json/reader.h"
#include "base/status_macros.h"

struct dt_session {
  std::unique_ptr<dynatrain::runtime::Session> session;
};

namespace dynatrain::runtime {
namespace {

using nlohmann::json;

thread_local std::string last_error;

int CodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return DT_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return DT_INVALID;
    case absl::StatusCode::kDeadlineExceeded:
      return DT_TIMEOUT;
    case absl::StatusCode::kUnavailable:
      return DT_LOST;
    case absl::StatusCode::kDataLoss:
      return DT_CORRUPT;
    case absl::StatusCode::kCancelled:
      return DT_CANCELLED;
    default:
      return DT_REFUSED;
  }
}

// Runs `body`, which returns a Status, keeps its error for dt_error and lets no
// exception through to C.
template <typename Body>
int Guard(Body body) {
  absl::Status status;
  try {
    status = body();
  } catch (const std::exception& error) {
    status = absl::InternalError(absl::StrCat("unexpected: ", error.what()));
  }
  last_error = std::string(status.message());
  return CodeOf(status);
}

absl::Status GiveBytes(absl::string_view bytes, void** out) {
  char* copy = static_cast<char*>(malloc(bytes.size() + 1));
  if (copy == nullptr) return absl::ResourceExhaustedError("out of memory");
  memcpy(copy, bytes.data(), bytes.size());
  copy[bytes.size()] = '\0';
  *out = copy;
  return absl::OkStatus();
}

absl::Status GiveJson(const json& value, char** out) {
  void* bytes = nullptr;
  RETURN_IF_ERROR(GiveBytes(api::DumpJson(value), &bytes));
  *out = static_cast<char*>(bytes);
  return absl::OkStatus();
}

absl::Status NotNull(const void* argument, const char* name) {
  if (argument != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is null"));
}

absl::StatusOr<json> ParseText(const char* text, const char* name) {
  RETURN_IF_ERROR(NotNull(text, name));
  ASSIGN_OR_RETURN(json value, api::ParseJson(text), name);
  return value;
}

absl::StatusOr<transition::BlobKind> BlobKindOf(const char* key) {
  RETURN_IF_ERROR(NotNull(key, "key"));
  for (transition::BlobKind kind :
       {transition::BlobKind::kCommon, transition::BlobKind::kCoordinate}) {
    if (transition::BlobName(kind) == key) return kind;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "key \"", key, "\" is neither \"common\" nor \"coordinate\""));
}

std::optional<std::string> Environment(const std::string& name) {
  const char* value = getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace
}  // namespace dynatrain::runtime

namespace rt = dynatrain::runtime;
using dynatrain::Deadline;

extern "C" {

#pragma GCC visibility push(default)

int dt_abi_version(void) { return DT_ABI_VERSION; }

void dt_free(void* p) { free(p); }

const char* dt_error(void) { return rt::last_error.c_str(); }

int dt_open(const char* config, dt_session** session, char** welcome) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(welcome, "welcome"));
    ASSIGN_OR_RETURN(rt::SessionConfig parsed,
                     rt::SessionConfig::Create(config == nullptr ? "" : config,
                                               rt::Environment));
    ASSIGN_OR_RETURN(auto opened, rt::Session::Open(std::move(parsed)));
    RETURN_IF_ERROR(rt::GiveJson(opened->welcome(), welcome));
    *session = new dt_session{std::move(opened)};
    return absl::OkStatus();
  });
}

void dt_close(dt_session* session) { delete session; }

int dt_next(dt_session* session, int timeout_ms, char** instruction) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(instruction, "instruction"));
    ASSIGN_OR_RETURN(
        const nlohmann::json next,
        session->session->Next(
            timeout_ms < 0
                ? Deadline::Never()
                : Deadline::After(std::chrono::milliseconds(timeout_ms))));
    return rt::GiveJson(next, instruction);
  });
}

int dt_report(dt_session* session, const char* frame) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    ASSIGN_OR_RETURN(nlohmann::json fields, rt::ParseText(frame, "frame"));
    return session->session->Report(std::move(fields));
  });
}

int dt_plan(dt_session* session, const char* transition, const char* manifest,
            char** summary) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(manifest, "manifest"));
    RETURN_IF_ERROR(rt::NotNull(summary, "summary"));
    ASSIGN_OR_RETURN(const nlohmann::json order,
                     rt::ParseText(transition, "transition"));
    ASSIGN_OR_RETURN(const nlohmann::json planned,
                     session->session->Plan(order, manifest));
    return rt::GiveJson(planned, summary);
  });
}

int dt_bind(dt_session* session, uint64_t generation, int side, int64_t index,
            void* data, int ndim, const int64_t* shape,
            const int64_t* strides_bytes) {
  return rt::Guard([&]() -> absl::Status {
    using Side = dynatrain::transition::BindingSide;
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    if (side != DT_SOURCE && side != DT_TARGET) {
      return absl::InvalidArgumentError(
          absl::StrCat("side ", side, " is neither DT_SOURCE nor DT_TARGET"));
    }
    if (ndim < 0 || (ndim > 0 && (shape == nullptr || !strides_bytes))) {
      return absl::InvalidArgumentError("ndim, shape or strides_bytes");
    }
    return session->session->Bind(
        generation, side == DT_SOURCE ? Side::kSource : Side::kTarget, index,
        data, absl::MakeConstSpan(shape, ndim),
        absl::MakeConstSpan(strides_bytes, ndim));
  });
}

int dt_put_blob(dt_session* session, uint64_t generation, const char* key,
                const void* bytes, size_t len) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    if (len > 0) RETURN_IF_ERROR(rt::NotNull(bytes, "bytes"));
    ASSIGN_OR_RETURN(const auto kind, rt::BlobKindOf(key));
    return session->session->PutBlob(
        generation, kind, std::string(static_cast<const char*>(bytes), len));
  });
}

int dt_get_blob(dt_session* session, uint64_t generation, const char* key,
                void** bytes, size_t* len) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(bytes, "bytes"));
    RETURN_IF_ERROR(rt::NotNull(len, "len"));
    ASSIGN_OR_RETURN(const auto kind, rt::BlobKindOf(key));
    ASSIGN_OR_RETURN(const std::string blob,
                     session->session->GetBlob(generation, kind));
    RETURN_IF_ERROR(rt::GiveBytes(blob, bytes));
    *len = blob.size();
    return absl::OkStatus();
  });
}

int dt_boundary(dt_session* session, uint64_t generation, uint64_t step,
                int* action) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(action, "action"));
    ASSIGN_OR_RETURN(const rt::BoundaryAction what,
                     session->session->Boundary(generation, step));
    *action = what == rt::BoundaryAction::kStop      ? DT_STOP
              : what == rt::BoundaryAction::kDismiss ? DT_DISMISS
                                                     : DT_CONTINUE;
    return absl::OkStatus();
  });
}

int dt_transfer(dt_session* session, uint64_t generation, int* outcome,
                char** report) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(outcome, "outcome"));
    RETURN_IF_ERROR(rt::NotNull(report, "report"));
    ASSIGN_OR_RETURN(const rt::TransferOutcome ended,
                     session->session->Transfer(generation));
    *outcome = ended.committed ? DT_COMMITTED : DT_KEPT;
    return rt::GiveJson(ended.report, report);
  });
}

int dt_drop(dt_session* session, uint64_t generation) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    session->session->Drop(generation);
    return absl::OkStatus();
  });
}

int dt_store(dt_session* session, const char* request, const void* value,
             size_t len, char** reply, void** out, size_t* out_len) {
  return rt::Guard([&]() -> absl::Status {
    RETURN_IF_ERROR(rt::NotNull(session, "session"));
    RETURN_IF_ERROR(rt::NotNull(reply, "reply"));
    RETURN_IF_ERROR(rt::NotNull(out, "out"));
    RETURN_IF_ERROR(rt::NotNull(out_len, "out_len"));
    if (len > 0) RETURN_IF_ERROR(rt::NotNull(value, "value"));
    ASSIGN_OR_RETURN(const nlohmann::json parsed,
                     rt::ParseText(request, "request"));
    ASSIGN_OR_RETURN(
        const rt::StoreReply got,
        session->session->Store(
            parsed, absl::string_view(static_cast<const char*>(value), len)));
    RETURN_IF_ERROR(rt::GiveJson(
        {{"ok", got.ok}, {"number", got.number}, {"error", got.error}}, reply));
    RETURN_IF_ERROR(rt::GiveBytes(got.value, out));
    *out_len = got.value.size();
    return absl::OkStatus();
  });
}

#pragma GCC visibility pop

}  // extern "C"
