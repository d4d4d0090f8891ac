// Random problems of task orders, and what no order of theirs is below, by
// enumeration.
#ifndef TRANSITION_STAGE_ORDER_PROBLEM_TESTUTIL_H_
#define TRANSITION_STAGE_ORDER_PROBLEM_TESTUTIL_H_

#include <cstdint>
#include <random>
#include <vector>

#include "transition/stage/order_problem.h"

namespace dynatrain::transition {

// Two to five ranks; releases that wait for one task or two, allocations that
// several tasks touch.
OrderProblem RandomProblem(int num_tasks, std::mt19937_64& random);

// As plans with whole allocations are: each task reads one allocation of a rank
// and writes into some of others.
OrderProblem RandomExchange(int num_tasks, std::mt19937_64& random);

std::vector<int64_t> RandomAllowed(const OrderProblem& problem,
                                   std::mt19937_64& random);

// Of PeaksOf.
int64_t ExcessOf(const OrderProblem& problem, const std::vector<int>& order,
                 const std::vector<int64_t>& allowed_bytes);

// Over all sets of tasks, each summed up anew. REQUIRES: few tasks.
int64_t LeastExcess(const OrderProblem& problem,
                    const std::vector<int64_t>& allowed_bytes);

}  // namespace dynatrain::transition

#endif  // TRANSITION_STAGE_ORDER_PROBLEM_TESTUTIL_H_
