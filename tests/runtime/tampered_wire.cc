#include "tests/runtime/tampered_wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace dynatrain::runtime {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int PortOf(const std::string& address) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  return port;
}

UniqueFd Listen() {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(0);
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof(address)),
            0);
  EXPECT_EQ(listen(listener.get(), 16), 0);
  return listener;
}

bool SendAll(int socket, const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t n = send(socket, bytes, count, MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes += n;
    count -= n;
  }
  return true;
}

}  // namespace

TamperedWire::TamperedWire(const std::string& to, Harm harm)
    : to_port_(PortOf(to)), harm_(harm), listener_(Listen()) {
  acceptor_ = std::thread([this] { Accept(); });
}

TamperedWire::~TamperedWire() {
  shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    absl::MutexLock lock(&mutex_);
    for (const UniqueFd& socket : sockets_) shutdown(socket.get(), SHUT_RDWR);
  }
  for (std::thread& carrier : carriers_) carrier.join();
}

std::string TamperedWire::address() const {
  sockaddr_in address = {};
  socklen_t size = sizeof(address);
  getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
}

bool TamperedWire::done() const {
  absl::MutexLock lock(&mutex_);
  return done_;
}

int TamperedWire::Keep(UniqueFd socket) {
  const int one = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  absl::MutexLock lock(&mutex_);
  sockets_.push_back(std::move(socket));
  return sockets_.back().get();
}

void TamperedWire::Accept() {
  for (bool first = true;; first = false) {
    UniqueFd dialer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!dialer.valid()) return;
    UniqueFd onward(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = Loopback(to_port_);
    if (connect(onward.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof(address)) != 0) {
      continue;
    }
    const int a = Keep(std::move(dialer));
    const int b = Keep(std::move(onward));
    carriers_.emplace_back([this, a, b, first] { Carry(a, b, first); });
    carriers_.emplace_back([this, a, b] { Carry(b, a, /*harmful=*/false); });
  }
}

void TamperedWire::Carry(int from, int to, bool harmful) {
  size_t passed = 0;
  char buffer[64 << 10];
  while (true) {
    const ssize_t got = recv(from, buffer, sizeof(buffer), 0);
    if (got <= 0) break;
    size_t count = got;
    const bool here =
        harmful && harm_.at_byte >= passed && harm_.at_byte < passed + count;
    const bool cut = here && harm_.kind == Harm::Kind::kCut;
    if (cut) count = harm_.at_byte - passed;
    if (here && !cut) buffer[harm_.at_byte - passed] ^= 1;
    if (here) {
      absl::MutexLock lock(&mutex_);
      done_ = true;
    }
    if (!SendAll(to, buffer, count) || cut) break;
    passed += count;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace dynatrain::runtime
