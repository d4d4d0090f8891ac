// A TCP relay between two rank processes that does harm to what the dialer
// sends in the first connection; all later ones pass untouched.
#ifndef TESTS_RUNTIME_TAMPERED_WIRE_H_
#define TESTS_RUNTIME_TAMPERED_WIRE_H_

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/unique_fd.h"

namespace dynatrain::runtime {

class TamperedWire {
 public:
  struct Harm {
    enum class Kind {
      kCut,   // both directions end before this byte
      kFlip,  // the lowest bit of this byte is another one
    };
    Kind kind = Kind::kCut;
    size_t at_byte = 0;  // of the connection, the handshake counted
  };

  // Relays to `to`, "127.0.0.1:port".
  TamperedWire(const std::string& to, Harm harm);
  // Ends all connections.
  ~TamperedWire();

  // Where to dial, "127.0.0.1:port".
  std::string address() const;
  // True once the harm is done.
  bool done() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Accept();
  // Carries bytes one way until either side ends.
  void Carry(int from, int to, bool harmful) ABSL_LOCKS_EXCLUDED(mutex_);
  int Keep(UniqueFd socket) ABSL_LOCKS_EXCLUDED(mutex_);

  const int to_port_;
  const Harm harm_;
  const UniqueFd listener_;
  mutable absl::Mutex mutex_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<UniqueFd> sockets_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> carriers_;  // the acceptor's until it has ended
  std::thread acceptor_;
};

}  // namespace dynatrain::runtime

#endif  // TESTS_RUNTIME_TAMPERED_WIRE_H_
