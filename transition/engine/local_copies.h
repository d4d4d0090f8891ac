// What stays in this process but moves in its memory.
#ifndef TRANSITION_ENGINE_LOCAL_COPIES_H_
#define TRANSITION_ENGINE_LOCAL_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transition/engine/bindings.h"
#include "transition/engine/transfer_hooks.h"
#include "transition/engine/verifier.h"
#include "transition/plan/route.h"

namespace dynatrain::transition {

struct LocalCopy {
  Route route;
  RegionMemory source;
  RegionMemory target;
};

// Thread-compatible. Only reads the sources; writes only within the targets.
class LocalCopies {
 public:
  // A region that is bound to the same memory on both sides is left alone.
  // Pointers outlive this.
  LocalCopies(std::vector<LocalCopy> copies, Verifier* verifier,
              const TransferHooks* hooks);
  // The verifier points into it.
  LocalCopies(const LocalCopies&) = delete;
  LocalCopies& operator=(const LocalCopies&) = delete;

  // Copies the next piece; false if there is none.
  bool Step();
  bool done() const { return next_ == copies_.size(); }
  int64_t bytes_copied() const { return bytes_copied_; }

 private:
  std::vector<LocalCopy> copies_;
  Verifier* const verifier_;
  const TransferHooks* const hooks_;
  std::vector<size_t> checks_;
  size_t next_ = 0;
  int64_t elements_ = 0;  // of the next one, copied
  uint64_t digest_ = 0;   // of those, in the source
  int64_t bytes_copied_ = 0;
};

}  // namespace dynatrain::transition

#endif  // TRANSITION_ENGINE_LOCAL_COPIES_H_
