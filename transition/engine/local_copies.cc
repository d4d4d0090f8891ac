#include "transition/engine/local_copies.h"

#include <algorithm>
#include <utility>

#include "transition/device/run_copy.h"

namespace dynatrain::transition {
namespace {

constexpr int64_t kPieceBytes = 256 << 10;

bool SameMemory(const LocalCopy& copy) {
  return copy.source.base == copy.target.base &&
         copy.source.run == copy.target.run;
}

}  // namespace

LocalCopies::LocalCopies(std::vector<LocalCopy> copies, Verifier* verifier,
                         const TransferHooks* hooks)
    : copies_(std::move(copies)), verifier_(verifier), hooks_(hooks) {
  std::erase_if(copies_, SameMemory);
  for (const LocalCopy& copy : copies_) {
    checks_.push_back(verifier_->Add(copy.route, &copy.target));
  }
}

bool LocalCopies::Step() {
  if (done()) return false;
  const LocalCopy& copy = copies_[next_];
  const int64_t item_bytes = copy.source.item_bytes();
  const int64_t count = std::min(copy.source.digest.num_elements() - elements_,
                                 kPieceBytes / item_bytes);
  const int64_t begin = elements_ * item_bytes;
  CopyRun(copy.source.view(), copy.target.view(), begin, count * item_bytes);
  if (hooks_ != nullptr && hooks_->after_unpack) {
    hooks_->after_unpack(copy.route, ContiguousAt(copy.target.view(), begin,
                                                  count * item_bytes));
  }
  digest_ += copy.source.Digest(elements_, count);
  elements_ += count;
  bytes_copied_ += count * item_bytes;
  if (elements_ == copy.source.digest.num_elements()) {
    verifier_->Expect(checks_[next_], digest_);
    verifier_->Written(checks_[next_]);
    ++next_;
    elements_ = 0;
    digest_ = 0;
  }
  return true;
}

}  // namespace dynatrain::transition
