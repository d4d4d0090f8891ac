#include "agent/rendezvous_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "agent/client/messages.h"

namespace dynatrain::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr milliseconds kLong{60000};

class RendezvousStoreTest : public ::testing::Test {
 protected:
  StoreReply Call(std::string op, std::vector<std::string> keys,
                  std::string value = "", std::string expected = "",
                  int64_t amount = 0) {
    return store_.Call({.op = std::move(op),
                        .keys = std::move(keys),
                        .value = std::move(value),
                        .expected = std::move(expected),
                        .amount = amount,
                        .timeout = kLong});
  }

  RendezvousStore store_;
};

TEST_F(RendezvousStoreTest, SetGetCheckDeleteAndCount) {
  const std::string binary("\0\xFF\n", 3);
  EXPECT_TRUE(Call("set", {"a"}, binary).ok);
  EXPECT_EQ(Call("get", {"a"}).value, binary);
  EXPECT_EQ(Call("check", {"a"}).number, 1);
  EXPECT_EQ(Call("check", {"a", "b"}).number, 0);
  EXPECT_EQ(Call("num_keys", {}).number, 1);
  EXPECT_EQ(Call("delete", {"a"}).number, 1);
  EXPECT_EQ(Call("delete", {"a"}).number, 0);
  EXPECT_EQ(Call("num_keys", {}).number, 0);
}

TEST_F(RendezvousStoreTest, AddCountsFromZeroInDecimal) {
  EXPECT_EQ(Call("add", {"n"}, "", "", 3).number, 3);
  EXPECT_EQ(Call("add", {"n"}, "", "", -5).number, -2);
  EXPECT_EQ(Call("get", {"n"}).value, "-2");
  Call("set", {"n"}, "x");
  EXPECT_THAT(Call("add", {"n"}, "", "", 1).error, StartsWith("invalid: "));
  Call("set", {"n"}, "9223372036854775807");
  EXPECT_THAT(Call("add", {"n"}, "", "", 1).error, HasSubstr("overflows"));
}

TEST_F(RendezvousStoreTest, CompareSetMeansWhatTorchMeans) {
  EXPECT_EQ(Call("compare_set", {"k"}, "new", "old").value, "old");
  EXPECT_EQ(Call("check", {"k"}).number, 0);
  EXPECT_EQ(Call("compare_set", {"k"}, "new", "").value, "new");
  EXPECT_EQ(Call("compare_set", {"k"}, "x", "other").value, "new");
  EXPECT_EQ(Call("compare_set", {"k"}, "x", "new").value, "x");
}

TEST_F(RendezvousStoreTest, WaitersAreWokenBySet) {
  std::vector<std::thread> waiters;
  std::vector<StoreReply> replies(8);
  for (StoreReply& reply : replies) {
    waiters.emplace_back([&] { reply = Call("get", {"late"}); });
  }
  std::thread both([&] { EXPECT_TRUE(Call("wait", {"late", "later"}).ok); });
  EXPECT_TRUE(Call("set", {"late"}, "v").ok);
  for (std::thread& waiter : waiters) waiter.join();
  for (const StoreReply& reply : replies) EXPECT_EQ(reply.value, "v");
  EXPECT_TRUE(Call("set", {"later"}, "").ok);
  both.join();
}

TEST_F(RendezvousStoreTest, AWaitThatEndsSaysWhatForAndHowLong) {
  const StoreReply reply = store_.Call(
      {.op = "wait", .keys = {"a", "b"}, .timeout = milliseconds(20)});
  EXPECT_FALSE(reply.ok);
  EXPECT_EQ(reply.error, "timeout: not all of 'a', 'b' were set within 20 ms");
}

TEST_F(RendezvousStoreTest, CloseEndsAllWaits) {
  StoreReply reply;
  std::thread waiter([&] { reply = Call("get", {"never"}); });
  store_.Close("it is committed");
  waiter.join();
  EXPECT_EQ(reply.error, "closed: it is committed");
  EXPECT_EQ(Call("set", {"a"}, "v").error, "closed: it is committed");
}

TEST_F(RendezvousStoreTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Call("append", {"a"}).error, HasSubstr("unknown operation"));
  EXPECT_THAT(Call("get", {}).error, HasSubstr("get takes 1 key(s), got 0"));
  EXPECT_THAT(Call("set", {"a", "b"}).error, StartsWith("invalid: set takes"));
}

TEST_F(RendezvousStoreTest, IsBounded) {
  const std::string big(RendezvousStore::kMaxBytes / 2, 'x');
  EXPECT_TRUE(Call("set", {"a"}, big).ok);
  EXPECT_THAT(Call("set", {"b"}, big).error, StartsWith("full: "));
  EXPECT_TRUE(Call("set", {"a"}, big).ok);  // the same again takes no more
  EXPECT_EQ(Call("delete", {"a"}).number, 1);
  EXPECT_TRUE(Call("set", {"b"}, big).ok);
}

}  // namespace
}  // namespace dynatrain::agent
