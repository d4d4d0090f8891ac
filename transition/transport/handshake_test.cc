#include "transition/transport/handshake.h"

#include <string>

#include "gtest/gtest.h"

namespace dynatrain::transition {
namespace {

Hello Sample() {
  Hello hello;
  hello.dialer = 7;
  hello.listener = UINT64_MAX;
  hello.generation = 3;
  hello.attempt = {0x1122, 0x3344};
  hello.staging_bytes = 1 << 20;
  hello.nonce = MakeNonce();
  return hello;
}

TEST(HandshakeTest, HelloSurvivesTheWire) {
  const Hello hello = Sample();
  const std::string bytes = EncodeHello(hello);
  ASSERT_EQ(bytes.size(), kHelloBytes);
  EXPECT_EQ(DecodeHello(bytes).value(), hello);
}

TEST(HandshakeTest, OtherBytesAreNoHello) {
  const std::string bytes = EncodeHello(Sample());
  EXPECT_FALSE(DecodeHello("").ok());
  EXPECT_FALSE(DecodeHello(bytes.substr(1)).ok());
  EXPECT_FALSE(DecodeHello(std::string(kHelloBytes, 'G')).ok());
  Hello other = Sample();
  other.protocol = 2;
  EXPECT_EQ(DecodeHello(EncodeHello(other)).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(HandshakeTest, AProofIsOfOneKeyRoleHelloAndNonce) {
  const Hello hello = Sample();
  const Nonce nonce = MakeNonce();
  const Sha256Digest proof = Proof("key", Role::kDialer, hello, nonce);
  EXPECT_EQ(Proof("key", Role::kDialer, hello, nonce), proof);
  EXPECT_NE(Proof("kez", Role::kDialer, hello, nonce), proof);
  EXPECT_NE(Proof("key", Role::kListener, hello, nonce), proof);
  EXPECT_NE(Proof("key", Role::kDialer, hello, MakeNonce()), proof);
  Hello other = hello;
  other.generation = 4;
  EXPECT_NE(Proof("key", Role::kDialer, other, nonce), proof);
}

TEST(HandshakeTest, RepliesCarryAPayloadOrAReason) {
  const std::string welcome = EncodeReply(absl::OkStatus(), "payload");
  ReplyHeader header =
      DecodeReplyHeader(welcome.substr(0, kReplyHeaderBytes)).value();
  EXPECT_EQ(header.code, absl::StatusCode::kOk);
  EXPECT_EQ(welcome.substr(kReplyHeaderBytes), "payload");
  const std::string refusal =
      EncodeReply(absl::PermissionDeniedError(std::string(5000, 'x')));
  header = DecodeReplyHeader(refusal.substr(0, kReplyHeaderBytes)).value();
  EXPECT_EQ(header.code, absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(header.payload_bytes, kMaxReplyBytes);
  EXPECT_FALSE(DecodeReplyHeader(std::string(8, '\xFF')).ok());
}

}  // namespace
}  // namespace dynatrain::transition
