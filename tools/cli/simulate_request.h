// What the options of `dynatrain simulate` name, loaded: a trace on a cluster,
// or the paper's cases.
#ifndef TOOLS_CLI_SIMULATE_REQUEST_H_
#define TOOLS_CLI_SIMULATE_REQUEST_H_

#include <istream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/cluster_file/cluster_file.h"
#include "tools/cli/command_line.h"
#include "tools/simulate/assumptions.h"
#include "tools/simulate/comparison.h"
#include "tools/simulate/paper_cases.h"
#include "tools/simulate/simulation.h"
#include "tools/simulate/sizing.h"
#include "tools/simulate/trace.h"

namespace dynatrain::cli {

struct TraceRequest {
  std::string trace_name;
  simulate::Trace trace;
  std::string cluster_name;
  api::ClusterFile cluster;
  std::string model;
  std::string layouts;  // as they were given; "" if any
  simulate::Assumptions assumptions;
  simulate::Sizer sizer;
};

struct CaseRequest {
  std::vector<const simulate::PaperCase*> cases;
  std::string cluster_name;
  api::ClusterFile cluster;
  simulate::Assumptions assumptions;
};

// A case by every strategy, with each number of NICs.
struct CaseResult {
  struct Band {
    int nics = 0;
    std::vector<simulate::StrategyTime> times;
  };
  simulate::PaperCase paper_case;
  std::vector<Band> bands;
};

// Errors begin with the option or the path of the file, with the line in it.
// kInvalidArgument: the command line, or what a file says; others: a file can't
// be read.
absl::StatusOr<TraceRequest> LoadTrace(const CommandLine& line,
                                       std::istream& in);
absl::StatusOr<CaseRequest> LoadCases(const CommandLine& line,
                                      std::istream& in);

}  // namespace dynatrain::cli

#endif  // TOOLS_CLI_SIMULATE_REQUEST_H_
