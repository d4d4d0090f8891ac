#include "operator/kube/credentials.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace dynatrain::control {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<int> ParsePort(absl::string_view text) {
  int port = 0;
  if (!absl::SimpleAtoi(text, &port) || port < 1 || port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("port \"", text, "\" is not a number of 1 to 65535"));
  }
  return port;
}

}  // namespace

absl::StatusOr<ServerAddress> ServerAddress::Parse(absl::string_view url) {
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("server \"", url, "\" ", why,
                     "; it should look like https://10.0.0.1:6443"));
  };
  ServerAddress address;
  absl::string_view rest = url;
  if (absl::ConsumePrefix(&rest, "http://")) {
    address.tls = false;
    address.port = 80;
  } else if (!absl::ConsumePrefix(&rest, "https://")) {
    return refuse("has no scheme http or https");
  }
  absl::ConsumeSuffix(&rest, "/");
  if (absl::StrContains(rest, '/')) return refuse("has a path");
  absl::string_view port;
  if (absl::ConsumePrefix(&rest, "[")) {
    const size_t end = rest.find(']');
    if (end == absl::string_view::npos) return refuse("has no ]");
    port = rest.substr(end + 1);
    rest = rest.substr(0, end);
  } else if (const size_t colon = rest.find(':');
             colon != absl::string_view::npos) {
    port = rest.substr(colon);
    rest = rest.substr(0, colon);
  }
  if (!port.empty()) {
    if (!absl::ConsumePrefix(&port, ":")) return refuse("has text after ]");
    ASSIGN_OR_RETURN(address.port, ParsePort(port),
                     absl::StrCat("server ", url));
  }
  if (rest.empty()) return refuse("has no host");
  address.host = std::string(rest);
  return address;
}

absl::StatusOr<std::string> Source::Read() const {
  if (!text.empty() || path.empty()) return text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || !(bytes << file.rdbuf())) {
    return absl::UnavailableError(
        absl::StrCat("can't read ", path, ": ", std::strerror(errno)));
  }
  return bytes.str();
}

absl::StatusOr<CredentialSources> InClusterSources(const std::string& root) {
  CredentialSources sources;
  sources.address.host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  if (sources.address.host.empty() || port.empty()) {
    return absl::NotFoundError(
        "KUBERNETES_SERVICE_HOST and _PORT are not set: this is no pod; use "
        "--kubeconfig");
  }
  ASSIGN_OR_RETURN(sources.address.port, ParsePort(port),
                   "KUBERNETES_SERVICE_PORT");
  sources.token.path = root + "/token";
  sources.ca.path = root + "/ca.crt";
  ASSIGN_OR_RETURN(const std::string ns,
                   (Source{.text = "", .path = root + "/namespace"}.Read()));
  sources.default_namespace = std::string(absl::StripAsciiWhitespace(ns));
  return sources;
}

absl::StatusOr<Access> Credentials::Read() const {
  Access access;
  ASSIGN_OR_RETURN(const std::string token, sources_.token.Read(), "token");
  access.token = std::string(absl::StripAsciiWhitespace(token));
  ASSIGN_OR_RETURN(access.tls.ca, sources_.ca.Read(), "certificate authority");
  ASSIGN_OR_RETURN(access.tls.certificate, sources_.certificate.Read(),
                   "client certificate");
  ASSIGN_OR_RETURN(access.tls.key, sources_.key.Read(), "client key");
  access.tls.insecure = sources_.insecure;
  return access;
}

absl::StatusOr<Access> Credentials::Current() {
  absl::MutexLock lock(&mutex_);
  const absl::Time now = now_();
  if (now < next_read_) return access_;
  absl::StatusOr<Access> read = Read();
  if (read.ok()) {
    access_ = *std::move(read);
    read_once_ = true;
  } else if (!read_once_) {
    return read.status();
  }
  next_read_ = now + kReadPeriod;
  return access_;
}

void Credentials::Refused(absl::string_view token) {
  absl::MutexLock lock(&mutex_);
  if (token == access_.token) next_read_ = absl::InfinitePast();
}

}  // namespace dynatrain::control
