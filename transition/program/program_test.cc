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
}

}  // namespace
}  // namespace dynatrain::transition
