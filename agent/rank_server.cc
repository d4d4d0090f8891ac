#include "agent/rank_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "agent/log.h"

namespace dynatrain::agent {
namespace {

constexpr std::chrono::seconds kHelloDeadline{10};
// A pod's ranks, twice, and whoever knocks by mistake: a bound on threads.
constexpr size_t kMaxConnections = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<RankServer>> RankServer::Listen(
    const std::string& path) {
  const auto error = [&](absl::string_view what) {
    return absl::ErrnoToStatus(
        errno, absl::StrCat(what, " the socket of the ranks ", path));
  };
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("path of the ranks' socket is too long: ", path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd listener(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  UniqueFd stop(::eventfd(0, EFD_CLOEXEC));
  if (!listener.valid() || !stop.valid()) return error("making");
  ::unlink(path.c_str());
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address),
             sizeof(address)) != 0) {
    return error("binding");
  }
  // The program may run as another user than the agent that started it.
  ::chmod(path.c_str(), 0777);
  if (::listen(listener.get(), SOMAXCONN) != 0) return error("listening at");
  return absl::WrapUnique(
      new RankServer(path, std::move(listener), std::move(stop)));
}

void RankServer::Start(RankEvents* events) {
  events_ = events;
  acceptor_ = std::thread([this] { Accept(); });
}

RankServer::~RankServer() {
  ::eventfd_write(stop_.get(), 1);
  if (acceptor_.joinable()) acceptor_.join();
  Sweep(/*all=*/true);
  ::unlink(path_.c_str());
}

void RankServer::Accept() {
  while (true) {
    pollfd waits[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) return;
    Sweep(/*all=*/false);
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.valid()) continue;
    auto channel = api::FrameChannel::Create(std::move(socket), "a local rank");
    if (!channel.ok()) {
      Log(LogLevel::kWarning,
          absl::StrCat("a rank's connection: ", channel.status().ToString()));
      continue;
    }
    absl::MutexLock lock(&mutex_);
    if (connections_.size() >= kMaxConnections) continue;
    Connection& connection = connections_.emplace_back();
    connection.link = std::make_shared<RankLink>(*std::move(channel));
    connection.thread = std::thread([this, &connection] { Serve(connection); });
  }
}

void RankServer::Serve(Connection& connection) {
  std::shared_ptr<RankLink> link;
  {
    absl::MutexLock lock(&mutex_);
    link = connection.link;
  }
  absl::StatusOr<api::Frame> frame =
      link->Receive(Deadline::After(kHelloDeadline));
  const absl::StatusOr<int> rank = frame.ok()
                                       ? events_->Hello(*frame, link)
                                       : absl::StatusOr<int>(frame.status());
  if (rank.ok()) {
    absl::Status status;
    while (status.ok()) {
      frame = link->Receive(Deadline::Never());
      status = frame.ok() ? events_->Report(*rank, *frame) : frame.status();
    }
    events_->Lost(*rank, status);
  } else {
    Log(LogLevel::kWarning,
        absl::StrCat("a connection to the ranks' socket was turned away: ",
                     rank.status().ToString()));
  }
  absl::MutexLock lock(&mutex_);
  connection.link.reset();  // cut, unless `events_` keeps it
  connection.over = true;
}

void RankServer::Sweep(bool all) {
  std::list<Connection> over;
  {
    absl::MutexLock lock(&mutex_);
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto next = std::next(it);
      if (all && it->link != nullptr) it->link->Cut();
      if (all || it->over) over.splice(over.end(), connections_, it);
      it = next;
    }
  }
  for (Connection& connection : over) connection.thread.join();
}

}  // namespace dynatrain::agent
