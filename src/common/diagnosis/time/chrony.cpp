#include "diagnosis/time/chrony.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/text.h"

namespace verl::chrony {
namespace {

constexpr std::uint8_t kVersion = 6;
constexpr std::uint8_t kPacketRequest = 1;
constexpr std::uint8_t kPacketReply = 2;
constexpr std::uint16_t kCommandSourceCount = 14;
constexpr std::uint16_t kCommandSource = 15;
constexpr std::uint16_t kCommandTracking = 33;
constexpr std::uint16_t kReplySourceCount = 2;
constexpr std::uint16_t kReplySource = 3;
constexpr std::uint16_t kReplyTracking = 5;
constexpr std::uint16_t kStatusSuccess = 0;
constexpr std::uint16_t kStatusUnauthorised = 2;
constexpr size_t kRequestSize = 512;
constexpr size_t kReplyHeader = 28;
constexpr size_t kTrackingSize = kReplyHeader + 76;
constexpr size_t kSourceSize = kReplyHeader + 48;
constexpr std::uint16_t kFamilyInet4 = 1;
constexpr std::uint16_t kFamilyInet6 = 2;

void put(std::string& bytes, size_t at, std::uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes[at + static_cast<size_t>(i)] = static_cast<char>((value >> (8 * (size - 1 - i))) & 0xFF);
}

std::string request(std::uint16_t command, std::uint32_t sequence) {
  std::string bytes(kRequestSize, '\0');
  put(bytes, 0, kVersion, 1);
  put(bytes, 1, kPacketRequest, 1);
  put(bytes, 4, command, 2);
  put(bytes, 8, sequence, 4);
  return bytes;
}

// Reads big-endian fields one after the other; the caller has checked the length.
class Fields final {
 public:
  Fields(std::string_view bytes, size_t at) : bytes_(bytes), at_(at) {}
  std::uint32_t u32() { return take(4); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(take(2)); }
  std::uint8_t u8() { return static_cast<std::uint8_t>(take(1)); }
  std::int16_t i16() { return static_cast<std::int16_t>(u16()); }
  double real() { return decode_float(u32()); }
  std::string address() {
    const std::string_view raw = bytes_.substr(at_, 16);
    at_ += 16;
    const std::uint16_t family = u16();
    u16();
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (family == kFamilyInet4) return ::inet_ntop(AF_INET, raw.data(), text.data(), text.size());
    if (family == kFamilyInet6) return ::inet_ntop(AF_INET6, raw.data(), text.data(), text.size());
    return {};
  }

 private:
  std::uint32_t take(size_t size) {
    std::uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[at_ + i]);
    at_ += size;
    return value;
  }
  std::string_view bytes_;
  size_t at_;
};

Result<Fields> open_reply(std::string_view bytes, std::uint32_t sequence, std::uint16_t command, std::uint16_t kind, size_t size) {
  if (bytes.size() < kReplyHeader) {
    return failure(ErrorCode::Invalid, fmt::format("chronyd's answer has {} bytes, fewer than a header", bytes.size()));
  }
  Fields fields(bytes, 0);
  const std::uint8_t version = fields.u8();
  const std::uint8_t type = fields.u8();
  fields.u16();
  const std::uint16_t answered = fields.u16();
  const std::uint16_t reply = fields.u16();
  const std::uint16_t status = fields.u16();
  Fields tail(bytes, 16);
  const std::uint32_t echoed = tail.u32();
  if (version != kVersion || type != kPacketReply) {
    return failure(ErrorCode::Invalid, fmt::format("chronyd speaks version {} of its protocol, this agent version {}", version, kVersion));
  }
  if (echoed != sequence || answered != command) {
    return failure(ErrorCode::Invalid, "chronyd's answer belongs to another request");
  }
  if (status == kStatusUnauthorised) return failure(ErrorCode::Denied, "chronyd refuses this request from here (cmdallow)");
  if (status != kStatusSuccess) return failure(ErrorCode::Unavailable, fmt::format("chronyd answered with status {}", status));
  if (reply != kind || bytes.size() < size) {
    return failure(ErrorCode::Invalid, fmt::format("chronyd answered kind {} with {} bytes, wanted kind {} with {}", reply, bytes.size(), kind, size));
  }
  return Fields(bytes, kReplyHeader);
}

// A reference id is four letters for a reference clock, an address otherwise.
std::string reference_text(std::uint32_t id) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const char c = static_cast<char>((id >> shift) & 0xFF);
    if (c == '\0' && !text.empty()) continue;
    if (c < 0x21 || c > 0x7E) return {};
    text.push_back(c);
  }
  return text;
}

}  // namespace

std::string tracking_request(std::uint32_t sequence) { return request(kCommandTracking, sequence); }
std::string source_count_request(std::uint32_t sequence) { return request(kCommandSourceCount, sequence); }
std::string source_request(std::uint32_t sequence, std::int32_t index) {
  std::string bytes = request(kCommandSource, sequence);
  put(bytes, 20, static_cast<std::uint32_t>(index), 4);
  return bytes;
}

double decode_float(std::uint32_t bits) {
  int exponent = static_cast<int>(bits >> 25);
  if (exponent >= 64) exponent -= 128;
  int coefficient = static_cast<int>(bits & 0x1FFFFFF);
  if (coefficient >= 1 << 24) coefficient -= 1 << 25;
  return std::ldexp(static_cast<double>(coefficient), exponent - 25);
}

Result<Tracking> parse_tracking(std::string_view reply, std::uint32_t sequence) {
  auto opened = open_reply(reply, sequence, kCommandTracking, kReplyTracking, kTrackingSize);
  if (!opened) return tl::unexpected(opened.error());
  Fields fields = *opened;
  Tracking out;
  out.reference_id = fields.u32();
  out.reference = fields.address();
  if (out.reference.empty()) out.reference = reference_text(out.reference_id);
  out.stratum = fields.u16();
  const std::uint16_t leap = fields.u16();
  if (leap > 3) return failure(ErrorCode::Invalid, fmt::format("chronyd reports leap status {}, which does not exist", leap));
  out.leap = static_cast<Leap>(leap);
  const std::uint64_t high = fields.u32();
  const std::uint64_t low = fields.u32();
  const std::uint32_t nanoseconds = fields.u32();
  // chronyd writes 0x7fffffff for "no upper half" on systems whose seconds have 32 bits.
  const std::uint64_t seconds = (high == 0x7FFFFFFF ? 0 : high << 32) | low;
  constexpr std::uint64_t kYear9999 = 253402300799;
  if (seconds > kYear9999 || nanoseconds >= 1000000000) return failure(ErrorCode::Invalid, "chronyd reports an impossible reference time");
  out.reference_time = Timestamp(Seconds(static_cast<std::int64_t>(seconds))) + Microseconds(nanoseconds / 1000);
  out.current_correction = fields.real();
  out.last_offset = fields.real();
  out.rms_offset = fields.real();
  out.frequency_ppm = fields.real();
  out.residual_ppm = fields.real();
  out.skew_ppm = fields.real();
  out.root_delay = fields.real();
  out.root_dispersion = fields.real();
  out.update_interval = fields.real();
  return out;
}

Result<std::uint32_t> parse_source_count(std::string_view reply, std::uint32_t sequence) {
  auto opened = open_reply(reply, sequence, kCommandSourceCount, kReplySourceCount, kReplyHeader + 4);
  if (!opened) return tl::unexpected(opened.error());
  return opened->u32();
}

Result<Source> parse_source(std::string_view reply, std::uint32_t sequence) {
  auto opened = open_reply(reply, sequence, kCommandSource, kReplySource, kSourceSize);
  if (!opened) return tl::unexpected(opened.error());
  Fields fields = *opened;
  Source out;
  out.address = fields.address();
  out.poll = fields.i16();
  out.stratum = fields.u16();
  const std::uint16_t state = fields.u16();
  const std::uint16_t mode = fields.u16();
  if (state > 5 || mode > 2) return failure(ErrorCode::Invalid, fmt::format("chronyd reports a source of state {} and mode {}", state, mode));
  out.state = static_cast<SourceState>(state);
  out.mode = static_cast<SourceMode>(mode);
  fields.u16();  // flags
  out.reach = fields.u16();
  out.since_sample = fields.u32();
  return out;
}

}  // namespace verl::chrony
