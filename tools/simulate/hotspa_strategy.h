// HotSPa-style: parameters are cut into slices so fine that each lies whole in
// one part of either layout; a device that lacks a slice gets it from one that
// a greedy rule picks; all goes as one batch.
//
// Source: github.com/ccchengff/HotSPa-AE at
// 941a18db2716fa458e140aab012d71f71e5df941 (the artifact of HotSPa, SOSP'24),
// hetu/graph/switch_exec_graph.{h,cc}; the same in
// github.com/PKU-DAIR/Hetu at 9e47240dfb79430a4b14ea6e71349258ce146b47:
//   SwitchParam     slices by the least common multiple of both layouts' cuts
//   ParamSliceComm  what a device holds itself is reused; else, NEW_GREEDY (the
//                   default): of the holders on the receiver's node the one
//                   that has sent least inside nodes so far, and only if there
//                   is none, of all holders the one that has sent least between
//                   nodes; counted in elements; the first of equals; slices in
//                   order, within one devices in order
//   BufferBatchedIsendIrecv  slices are packed into one buffer per peer, all
//                   sends and receives are one NCCL group, then unpacked
//
// Here a slice is an intersection of a part of the old layout with one of the
// new one. Where one layout's cuts divide the other's, as HotSPa asks, that is
// its slice; else its slices are finer, which changes what the greedy rule
// picks but not how many bytes move. Phases: pack, exchange, unpack.
#ifndef TOOLS_SIMULATE_HOTSPA_STRATEGY_H_
#define TOOLS_SIMULATE_HOTSPA_STRATEGY_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/simulate/strategy.h"

namespace dynatrain::simulate {

class HotSpaStrategy : public Strategy {
 public:
  absl::string_view name() const override { return "hotspa"; }
  absl::string_view source() const override {
    return "github.com/ccchengff/HotSPa-AE "
           "941a18db2716fa458e140aab012d71f71e5df941, "
           "hetu/graph/switch_exec_graph.cc";
  }
  absl::StatusOr<Movement> Plan(const SwitchCase& change) const override;
};

}  // namespace dynatrain::simulate

#endif  // TOOLS_SIMULATE_HOTSPA_STRATEGY_H_
