// A fake API server that misbehaves on demand.
//
// Speaks HTTP/1.1 over a raw socket, so that a test can say exactly which bytes
// come when: split chunks, silence, resets, HTML, a stream that ends too soon.
// Each request is answered by the next script of its queue; a request nobody
// wrote a script for is answered 404 and counted.
#ifndef TESTS_KUBE_FAKE_API_SERVER_H_
#define TESTS_KUBE_FAKE_API_SERVER_H_

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "operator/kube/credentials.h"
#include "operator/kube/json.h"

namespace dynatrain::control {

struct FakeRequest {
  std::string method;
  std::string target;
  std::string token;  // of "Authorization: Bearer"
  std::string content_type;
  std::string body;
};

// The answering side of one request.
class FakeExchange {
 public:
  FakeExchange(int fd, FakeRequest request)
      : fd_(fd), request_(std::move(request)) {}

  const FakeRequest& request() const { return request_; }

  // A whole answer; `headers` are lines "Name: value\r\n".
  void Respond(int code, const std::string& body,
               const std::string& headers = "",
               const std::string& content_type = "application/json");
  void RespondJson(int code, const Json& body) { Respond(code, body.dump()); }

  // An answer in chunks: StartStream, Chunk…, EndStream.
  void StartStream();
  void Chunk(const std::string& bytes);
  void EndStream();
  // A watch event as a chunk of its own.
  void Event(const std::string& type, const Json& object);

  // Ends the connection with RST.
  void Reset();
  // Says nothing until the client goes away or the server ends.
  void StaySilent();
  // As is.
  void Raw(const std::string& bytes);

 private:
  friend class FakeApiServer;
  const int fd_;
  const FakeRequest request_;
  bool close_ = false;
};

using FakeScript = std::function<void(FakeExchange&)>;

class FakeApiServer {
 public:
  FakeApiServer();
  ~FakeApiServer();

  ServerAddress address() const;

  // What answers the next request whose target contains `part` and "watch=1" or
  // not. Scripts of one kind are used in order; the last one for ever.
  void OnWatch(FakeScript script);
  void OnRequest(FakeScript script);

  std::vector<FakeRequest> requests() const;
  // Waits until so many requests have come.
  bool WaitForRequests(size_t count, absl::Duration timeout) const;

 private:
  void Accept();
  void Serve(int fd);
  // False if the client went away.
  static bool ReadRequest(int fd, std::string& buffer, FakeRequest& request);
  FakeScript Next(const FakeRequest& request);

  int listener_ = -1;
  int port_ = 0;
  mutable absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<FakeScript> watches_ ABSL_GUARDED_BY(mutex_);
  std::deque<FakeScript> others_ ABSL_GUARDED_BY(mutex_);
  std::vector<FakeRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<int> open_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace dynatrain::control

#endif  // TESTS_KUBE_FAKE_API_SERVER_H_
