// A link over a connected stream socket: TCP between pods.
#ifndef TRANSITION_TRANSPORT_TCP_LINK_H_
#define TRANSITION_TRANSPORT_TCP_LINK_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "transition/transport/link.h"

namespace dynatrain::transition {

class TcpLink : public Link {
 public:
  // Takes over `socket`, a connected stream socket of any family, with
  // `staging_bytes` of staging memory in each direction.
  static absl::StatusOr<std::unique_ptr<TcpLink>> Create(UniqueFd socket,
                                                         size_t staging_bytes,
                                                         std::string peer);

  absl::string_view transport() const override { return "tcp"; }
  absl::StatusOr<absl::Span<std::byte>> Space() override;
  absl::Status Commit(size_t bytes) override;
  absl::StatusOr<size_t> Write(absl::Span<const std::byte> bytes) override;
  absl::StatusOr<bool> Flush() override;
  absl::StatusOr<absl::Span<const std::byte>> Available() override;
  void Consume(size_t bytes) override;
  absl::StatusOr<size_t> Read(absl::Span<std::byte> bytes) override;
  bool PrepareToWait(bool want_space, std::vector<pollfd>* fds) override;
  void FinishWaiting() override {}
  size_t staging_bytes() const override {
    return out_.memory.size() + in_.memory.size();
  }

 private:
  // Bytes [begin, end) of `memory` wait to go on.
  struct Staging {
    std::vector<std::byte> memory;
    size_t begin = 0;
    size_t end = 0;
    size_t size() const { return end - begin; }
    void Drop(size_t n) {
      begin += n;
      if (begin == end) begin = end = 0;
    }
  };

  TcpLink(UniqueFd socket, size_t staging_bytes, std::string peer);
  absl::StatusOr<size_t> Send(const std::byte* from, size_t size);
  absl::StatusOr<size_t> Receive(std::byte* to, size_t size);

  const UniqueFd socket_;
  Staging out_;
  Staging in_;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_TRANSPORT_TCP_LINK_H_
