#include "diagnosis/time/chrony.h"

#include <gtest/gtest.h>

#include <string>

namespace verl::chrony {
namespace {

void put(std::string& bytes, std::uint64_t value, int size) {
  for (int i = size - 1; i >= 0; --i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xFF));
}

std::string header(int command, int reply, int status, std::uint32_t sequence) {
  std::string bytes;
  put(bytes, 6, 1);
  put(bytes, 2, 1);
  put(bytes, 0, 2);
  put(bytes, static_cast<std::uint64_t>(command), 2);
  put(bytes, static_cast<std::uint64_t>(reply), 2);
  put(bytes, static_cast<std::uint64_t>(status), 2);
  put(bytes, 0, 6);
  put(bytes, sequence, 4);
  put(bytes, 0, 8);
  return bytes;
}

std::string address(std::string raw, int family) {
  raw.resize(16, '\0');
  put(raw, static_cast<std::uint64_t>(family), 2);
  put(raw, 0, 2);
  return raw;
}

std::string tracking_reply(std::uint32_t sequence, int leap = 0) {
  std::string bytes = header(33, 5, 0, sequence);
  put(bytes, 0x0A4D0001, 4);
  bytes += address(std::string("\x0A\x4D\x00\x01", 4), 1);
  put(bytes, 3, 2);
  put(bytes, static_cast<std::uint64_t>(leap), 2);
  put(bytes, 0, 4);
  put(bytes, 1'700'000'000, 4);
  put(bytes, 250'000'000, 4);
  const std::uint32_t half = (1u << 25) | (1u << 23);  // 2^23 * 2^(1-25) = 0.5
  for (int i = 0; i < 9; ++i) put(bytes, half, 4);
  put(bytes, 0, 4);
  return bytes;
}

TEST(Chrony, FloatsAreAnExponentAndACoefficientWithSigns) {
  EXPECT_EQ(decode_float(0), 0.0);
  EXPECT_EQ(decode_float((1u << 25) | (1u << 23)), 0.5);
  EXPECT_EQ(decode_float((2u << 25) | (1u << 23)), 1.0);
  EXPECT_EQ(decode_float((1u << 25) | ((1u << 25) - (1u << 23))), -0.5);      // negative coefficient
  EXPECT_EQ(decode_float((127u << 25) | (1u << 23)), 0.125);                  // exponent -1
}

TEST(Chrony, RequestsAreAsLongAsTheLongestReply) {
  const std::string request = tracking_request(0x01020304);
  EXPECT_EQ(request.size(), 512u);
  EXPECT_EQ(request.substr(0, 12), std::string("\x06\x01\x00\x00\x00\x21\x00\x00\x01\x02\x03\x04", 12));
  EXPECT_EQ(source_request(1, 7).substr(20, 4), std::string("\0\0\0\x07", 4));
}

TEST(Chrony, TrackingIsRead) {
  const auto tracking = parse_tracking(tracking_reply(9), 9);
  ASSERT_TRUE(tracking) << tracking.error().message;
  const Tracking wanted{.reference_id = 0x0A4D0001,
                        .reference = "10.77.0.1",
                        .stratum = 3,
                        .leap = Leap::Normal,
                        .reference_time = Timestamp(Seconds(1'700'000'000)) + Microseconds(250'000),
                        .current_correction = 0.5,
                        .last_offset = 0.5,
                        .rms_offset = 0.5,
                        .frequency_ppm = 0.5,
                        .residual_ppm = 0.5,
                        .skew_ppm = 0.5,
                        .root_delay = 0.5,
                        .root_dispersion = 0.5,
                        .update_interval = 0.5};
  EXPECT_EQ(*tracking, wanted);
}

TEST(Chrony, AnswersThatAreNotOursAreRefused) {
  EXPECT_EQ(parse_tracking(tracking_reply(9), 8).error().code, ErrorCode::Invalid);        // another request's
  EXPECT_EQ(parse_tracking(tracking_reply(9, 4), 9).error().code, ErrorCode::Invalid);     // no such leap status
  EXPECT_EQ(parse_source_count(tracking_reply(9), 9).error().code, ErrorCode::Invalid);    // another kind
  EXPECT_EQ(parse_tracking(header(33, 1, 2, 9), 9).error().code, ErrorCode::Denied);
  EXPECT_EQ(parse_tracking(header(33, 1, 6, 9), 9).error().code, ErrorCode::Unavailable);
  std::string newer = tracking_reply(9);
  newer[0] = 7;
  EXPECT_EQ(parse_tracking(newer, 9).error().code, ErrorCode::Invalid);
}

TEST(Chrony, EveryShorterAnswerIsRefused) {
  const std::string whole = tracking_reply(9);
  for (size_t length = 0; length < whole.size() - 4; ++length) {
    EXPECT_FALSE(parse_tracking(whole.substr(0, length), 9)) << length;
  }
}

TEST(Chrony, SourcesAreRead) {
  std::string bytes = header(15, 3, 0, 4);
  bytes += address("\xFD", 2);
  put(bytes, 0xFFFE, 2);  // poll -2
  put(bytes, 2, 2);
  put(bytes, 0, 2);
  put(bytes, 1, 2);
  put(bytes, 0, 2);
  put(bytes, 0xFF, 2);
  put(bytes, 17, 4);
  bytes.append(16, '\0');
  const auto source = parse_source(bytes, 4);
  ASSERT_TRUE(source) << source.error().message;
  const Source wanted{.address = "fd00::", .poll = -2, .stratum = 2, .state = SourceState::Selected, .mode = SourceMode::Peer, .reach = 0xFF, .since_sample = 17};
  EXPECT_EQ(*source, wanted);
}

}  // namespace
}  // namespace verl::chrony
