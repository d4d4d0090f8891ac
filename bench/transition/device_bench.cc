// Copy kernels by row length, and the digest by element size, against memcpy.
//
//   bazel run -c opt //bench/transition:device_bench
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bench/transition/ratio.h"
#include "transition/device/element_digest.h"
#include "transition/device/run_copy.h"
#include "vps/geometry/box.h"
#include "vps/geometry/strided_run.h"

namespace dynatrain::transition {
namespace {

using bench::Candidate;
using vps::Box;

constexpr int64_t kBytes = int64_t{256} << 20;
constexpr int64_t kPieceBytes = 256 << 10;

void Run() {
  std::byte* source = bench::Allocate(4 * kBytes);
  std::byte* target = bench::Allocate(kBytes);
  const auto reference = [&] { memcpy(target, source, kBytes); };

  // Rows of a matrix four times as wide, in pieces as the engine moves them.
  std::vector<Candidate> copies;
  for (int64_t row : {4, 16, 128, 512, 1024, 2048, 4096, 16384, 65536}) {
    const int64_t rows = kBytes / row;
    const vps::StridedRun strided = vps::RunOf(
        Box::Create({0, 0}, {rows, row / 4}).value(), {4 * row, 4}, 4);
    copies.push_back(
        {"pack rows of " + std::to_string(row) + " B", [=] {
           for (int64_t at = 0; at < kBytes; at += kPieceBytes) {
             Pack({source, &strided}, at, {target + at, kPieceBytes});
           }
         }});
    copies.push_back(
        {"unpack rows of " + std::to_string(row) + " B", [=] {
           for (int64_t at = 0; at < kBytes; at += kPieceBytes) {
             Unpack({target + at, kPieceBytes}, {source, &strided}, at);
           }
         }});
  }
  bench::Compare("memcpy", reference, copies, kBytes);

  std::vector<Candidate> digests;
  volatile uint64_t sink = 0;
  for (int64_t item : {1, 2, 4, 8, 16}) {
    const std::vector<int64_t> shape = {kBytes / 4096, 4096 / item};
    for (int64_t width : {4096, 2048}) {
      const Box region = Box::Create({0, 0}, {shape[0], width / item}).value();
      const ElementDigest digest =
          ElementDigest::Create(region, shape, {4096, item}, item, 7);
      digests.push_back(
          {"digest of " + std::to_string(item) + "-byte elements" +
               (width == 4096 ? "" : ", half rows, twice"),
           [=, &sink] {
             for (int i = 0; i < 4096 / width; ++i) {
               sink = digest.Sum(source, 0, digest.num_elements());
             }
           }});
    }
  }
  bench::Compare("memcpy", reference, digests, kBytes);
}

}  // namespace
}  // namespace dynatrain::transition

int main() { dynatrain::transition::Run(); }
