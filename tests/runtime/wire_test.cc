// A peer whose bytes are not what they should be, in real processes: the
// receiver says what is wrong with whose stream, nothing is half-applied, and
// the next attempt works.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/job_testutil.h"
#include "tests/runtime/tampered_wire.h"
#include "transition/engine/stream_format.h"
#include "transition/transport/handshake.h"

namespace dynatrain::runtime {
namespace {

using Harm = TamperedWire::Harm;
using ::testing::HasSubstr;

// Each process sends and receives 3 MB.
constexpr char kManifest[] = R"({"version":1,"tensors":[
    {"name":"w","state":"param","dtype":"float32","shape":[3000,1000],
     "splits":[{"axis":"dp","dim":0},{"axis":"tp","dim":1}]}]})";

// What the dialer sends before its stream begins.
constexpr size_t kStream = transition::kHelloBytes + sizeof(Sha256Digest);
constexpr size_t kRoutes = kStream + transition::kHeaderBytes;

class WireTest : public testing::Test {
 protected:
  WireTest()
      : dialer_(job_.process_id(0) < job_.process_id(1) ? 0 : 1),
        listener_(1 - dialer_) {}

  static TestWorld World(uint64_t generation, const char* layout) {
    return {generation, layout, {{0, 0}, {1, 1}}};
  }

  // A transition in which what the dialer sends comes to that harm.
  void Run(Harm harm) {
    const TestJob::Order start = {{}, World(1, "dp2"), kManifest};
    ASSERT_TRUE(job_.Run(start).ok());
    wire_ = std::make_unique<TamperedWire>(job_.data_address(listener_), harm);
    job_.Reroute(listener_, wire_->address());
    job_.Prepare(order_);
    ASSERT_TRUE(job_.AwaitPrepared(order_).ok());
    ASSERT_TRUE(job_.Arm(order_).ok());
    job_.Tell({0, 1}, "go", 2);
  }

  std::string FailureOf(int process) {
    const auto frame = job_.agent().Expect(
        process, "failed", 2, Deadline::After(std::chrono::seconds(30)));
    return frame.ok() ? frame->Text("reason").value()
                      : frame.status().ToString();
  }

  // Whose stream was cut may have all of its own part by then, and what it
  // sent in the sockets: it has verified, and waits to be told.
  void ExpectTheDialerNamesItsPeerOrWaits() {
    const auto frame = job_.agent().Expect(
        dialer_, "verified", 2, Deadline::After(std::chrono::seconds(30)));
    if (frame.ok()) return;
    EXPECT_THAT(frame.status().ToString(),
                AllOf(HasSubstr("it failed"), HasSubstr(NameOf(listener_))));
  }

  // As the operator does once one has failed.
  void ExpectNothingIsHalfAppliedAndTheNextOneWorks() {
    EXPECT_TRUE(wire_->done());
    job_.Tell({0, 1}, "abort", 2);
    for (const int process : {0, 1}) {
      EXPECT_EQ(job_.AwaitKept(process, 2).value().at("check"), "");
    }
    TestJob::Order again = order_;
    again.target.generation = 3;
    const auto ended = job_.Run(again);
    EXPECT_TRUE(ended.ok()) << ended.status();
  }

  std::string NameOf(int process) const {
    return absl::StrCat("rank ", process, " (serial ", process, ")");
  }

  TestJob job_{2};
  const int dialer_;
  const int listener_;
  const TestJob::Order order_ = {World(1, "dp2"), World(2, "dp1,tp2"),
                                 kManifest};
  std::unique_ptr<TamperedWire> wire_;
};

TEST_F(WireTest, AStreamThatEndsAmidItsTensorsIsNamed) {
  ASSERT_NO_FATAL_FAILURE(Run({Harm::Kind::kCut, kRoutes + 1'000'003}));
  EXPECT_THAT(FailureOf(listener_), HasSubstr(NameOf(dialer_)));
  ExpectTheDialerNamesItsPeerOrWaits();
  ExpectNothingIsHalfAppliedAndTheNextOneWorks();
}

TEST_F(WireTest, AStreamThatEndsAmidItsHeaderIsNamed) {
  ASSERT_NO_FATAL_FAILURE(Run({Harm::Kind::kCut, kStream + 9}));
  EXPECT_THAT(FailureOf(listener_), HasSubstr(NameOf(dialer_)));
  ExpectTheDialerNamesItsPeerOrWaits();
  ExpectNothingIsHalfAppliedAndTheNextOneWorks();
}

TEST_F(WireTest, AWrongLengthIsRefusedWithBothNumbers) {
  // In the header's third word: 3,000,000 becomes 3,000,256.
  ASSERT_NO_FATAL_FAILURE(Run({Harm::Kind::kFlip, kStream + 17}));
  EXPECT_THAT(
      FailureOf(listener_),
      AllOf(HasSubstr(absl::StrCat("the stream of ", NameOf(dialer_))),
            HasSubstr("bytes, expected were"), HasSubstr("of 3000000")));
  ExpectNothingIsHalfAppliedAndTheNextOneWorks();
}

TEST_F(WireTest, WhatIsNoStreamIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Run({Harm::Kind::kFlip, kStream}));
  EXPECT_THAT(FailureOf(listener_),
              HasSubstr(absl::StrCat("the stream of ", NameOf(dialer_),
                                     " is not what the plan says")));
  ExpectNothingIsHalfAppliedAndTheNextOneWorks();
}

TEST_F(WireTest, AFlippedBitOfATensorIsFoundAndTheTensorNamed) {
  ASSERT_NO_FATAL_FAILURE(Run({Harm::Kind::kFlip, kRoutes + 1'234'567}));
  EXPECT_THAT(FailureOf(listener_),
              AllOf(HasSubstr("w/param"), HasSubstr("digest")));
  ExpectNothingIsHalfAppliedAndTheNextOneWorks();
}

}  // namespace
}  // namespace dynatrain::runtime
