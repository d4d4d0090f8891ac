#include "transition/program/program.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vps/geometry/box.h"

namespace dynatrain::transition {
namespace {

const Piece kPiece = {5, *vps::Box::Create({0}, {4})};

TEST(OperationTest, SaysWhatItDoes) {
  EXPECT_EQ(Send(3, {kPiece}, 16, 1, 2).DebugString(),
            "send 16 B to rank 3 (lane 1, channel 2) tensor 5 [0:4]");
  EXPECT_EQ(GroupBegin(7).DebugString(),
            "group begin of window 7 (lane 0, channel 0)");
  EXPECT_EQ(Reserve(1, 4096).DebugString(),
            "reserve 4096 B of buffer 1 (lane 0, channel 0)");
  const Piece second = {5, kPiece.region, 1};
  EXPECT_EQ(Copy({second}, 16, 0, 2).DebugString(),
            "copy 16 B of copy 2 (lane 0, channel 0) tensor 5 [0:4] copy 1");
  EXPECT_EQ(SendStaged(3, {kPiece}, 16, 7).DebugString(),
            "send 16 B to rank 3 out of staging of buffer 7 (lane 0, channel "
            "0) tensor 5 [0:4]");
  EXPECT_EQ(ReceiveStaged(3, {kPiece}, 16, 7).DebugString(),
            "receive 16 B from rank 3 into staging of buffer 7 (lane 0, "
            "channel 0) tensor 5 [0:4]");
  EXPECT_EQ(Zero({kPiece}, 16).DebugString(),
            "zero 16 B (lane 0, channel 0) tensor 5 [0:4]");
}

TEST(ProgramTest, ListsItsOperations) {
  const Program program = {.rank = 2,
                           .operations = {Allocate({kPiece}, 16), Join()}};
  EXPECT_EQ(program.DebugString(),
            "rank 2, plan 00000000000000000000000000000000\n"
            "0: allocate 16 B (lane 0, channel 0) tensor 5 [0:4]\n"
            "1: join (lane 0, channel 0)\n");
}

TEST(ProgramTest, EqualityCountsAllFields) {
  EXPECT_EQ(Copy({kPiece}, 16), Copy({kPiece}, 16));
  EXPECT_FALSE(Copy({kPiece}, 16) == Copy({kPiece}, 16, 1));
  EXPECT_FALSE(Free({kPiece}, 16) == Adopt({kPiece}, 16));
  EXPECT_FALSE(Receive(0, {kPiece}, 16) == Receive(1, {kPiece}, 16));
  EXPECT_FALSE(Release(0, 16) == Release(0, 17));
  EXPECT_FALSE(Copy({kPiece}, 16) == Copy({kPiece}, 16, 0, 1));
  EXPECT_FALSE(Receive(0, {kPiece}, 16) == ReceiveStaged(0, {kPiece}, 16, 0));
  EXPECT_FALSE(Zero({kPiece}, 16) ==
               Zero({{kPiece.tensor, kPiece.region, 1}}, 16));
}

}  // namespace
}  // namespace dynatrain::transition
