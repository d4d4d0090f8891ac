#include "base/status_macros.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/cord.h"
#include "gtest/gtest.h"

namespace dynatrain {
namespace {

absl::Status Missing() { return absl::NotFoundError("no such file"); }

absl::Status Check(absl::Status status, int* contexts) {
  const auto context = [&] {
    ++*contexts;
    return std::string("opening rank 3");
  };
  RETURN_IF_ERROR(status, context());
  return absl::OkStatus();
}

TEST(ReturnIfErrorTest, PutsContextBeforeTheMessageAndKeepsTheCode) {
  int contexts = 0;
  EXPECT_EQ(Check(Missing(), &contexts),
            absl::NotFoundError("opening rank 3: no such file"));
  EXPECT_EQ(contexts, 1);
}

TEST(ReturnIfErrorTest, EvaluatesNoContextWithoutAnError) {
  int contexts = 0;
  EXPECT_EQ(Check(absl::OkStatus(), &contexts), absl::OkStatus());
  EXPECT_EQ(contexts, 0);
}

TEST(ReturnIfErrorTest, TakesAStatusOr) {
  const auto fails = []() -> absl::Status {
    RETURN_IF_ERROR(absl::StatusOr<int>(Missing()));
    return absl::OkStatus();
  };
  EXPECT_EQ(fails(), Missing());
}

TEST(ReturnIfErrorTest, KeepsPayloads) {
  absl::Status status = Missing();
  status.SetPayload("type.url/tensor", absl::Cord("wte.weight"));
  int contexts = 0;
  EXPECT_EQ(Check(status, &contexts).GetPayload("type.url/tensor"),
            absl::Cord("wte.weight"));
}

absl::StatusOr<int> Sum(absl::StatusOr<int> a, absl::StatusOr<int> b) {
  ASSIGN_OR_RETURN(const int left, a);
  int right = 0;
  ASSIGN_OR_RETURN(right, b, "right side");
  return left + right;
}

TEST(AssignOrReturnTest, AssignsToDeclarationsAndVariables) {
  EXPECT_EQ(*Sum(1, 2), 3);
  EXPECT_EQ(Sum(Missing(), 2).status(), Missing());
  EXPECT_EQ(Sum(1, Missing()).status(),
            absl::NotFoundError("right side: no such file"));
}

TEST(AssignOrReturnTest, TakesMoveOnlyValues) {
  const auto make = []() -> absl::StatusOr<std::unique_ptr<int>> {
    ASSIGN_OR_RETURN(auto value,
                     absl::StatusOr<std::unique_ptr<int>>(new int(7)));
    return value;
  };
  EXPECT_EQ(**make(), 7);
}

TEST(AssignOrReturnTest, TakesADeclarationWithACommaInParentheses) {
  const auto sum =
      [](absl::StatusOr<std::pair<int, int>> range) -> absl::StatusOr<int> {
    ASSIGN_OR_RETURN((const auto [begin, end]), std::move(range));
    return begin + end;
  };
  EXPECT_EQ(*sum(std::pair(2, 5)), 7);
}

}  // namespace
}  // namespace dynatrain
