// The socket that the local ranks connect to.
#ifndef AGENT_RANK_SERVER_H_
#define AGENT_RANK_SERVER_H_

#include <list>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "agent/rank_link.h"
#include "api/rank/frame.h"
#include "base/unique_fd.h"

namespace dynatrain::agent {

// Who is told what the ranks say. Called from the threads of the connections.
class RankEvents {
 public:
  virtual ~RankEvents() = default;
  // The first frame of a connection. Returns the local rank it belongs to, or
  // why it is turned away.
  virtual absl::StatusOr<int> Hello(const api::Frame& hello,
                                    std::shared_ptr<RankLink> link) = 0;
  // Any later frame. An error ends the connection.
  virtual absl::Status Report(int rank, const api::Frame& frame) = 0;
  // The connection is over, once per Hello that was OK. kInvalidArgument if the
  // rank broke the protocol, else it closed it or was cut.
  virtual void Lost(int rank, const absl::Status& why) = 0;
};

class RankServer {
 public:
  // Listens at `path`, which a dead agent may have left. Returns an error that
  // names the path if it can't.
  static absl::StatusOr<std::unique_ptr<RankServer>> Listen(
      const std::string& path);
  // Accepts connections from now on. REQUIRES: called once; `events` outlives
  // this.
  void Start(RankEvents* events);
  ~RankServer();

 private:
  struct Connection {
    std::shared_ptr<RankLink> link;
    std::thread thread;
    bool over = false;
  };

  RankServer(std::string path, UniqueFd listener, UniqueFd stop)
      : path_(std::move(path)),
        listener_(std::move(listener)),
        stop_(std::move(stop)) {}
  void Accept() ABSL_LOCKS_EXCLUDED(mutex_);
  void Serve(Connection& connection) ABSL_LOCKS_EXCLUDED(mutex_);
  // Joins the threads of connections that are over; with `all` cuts the others
  // first.
  void Sweep(bool all) ABSL_LOCKS_EXCLUDED(mutex_);

  const std::string path_;
  const UniqueFd listener_;
  const UniqueFd stop_;  // eventfd
  RankEvents* events_ = nullptr;
  std::thread acceptor_;
  absl::Mutex mutex_;
  std::list<Connection> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace dynatrain::agent

#endif  // AGENT_RANK_SERVER_H_
