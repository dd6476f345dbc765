#include "kube/protocol/base64.h"

#include <array>
#include <cstdint>

namespace verl::kube {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = (group << 8) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= count ? kAlphabet[(group >> (18 - 6 * k)) & 63U] : '=';
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t group = 0;
  int digits = 0;
  int padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    if (c == '=') {
      if (++padding > 2) return std::nullopt;
      continue;
    }
    const size_t value = kAlphabet.find(c);
    if (padding > 0 || value == std::string_view::npos) return std::nullopt;
    group = (group << 6) | static_cast<std::uint32_t>(value);
    if (++digits % 4 == 0) {
      for (const int shift : {16, 8, 0}) out += static_cast<char>((group >> shift) & 255U);
      group = 0;
    }
  }
  const int rest = digits % 4;
  if ((digits + padding) % 4 != 0 || rest == 1 || (rest == 0 && padding > 0)) return std::nullopt;
  if (rest == 2) out += static_cast<char>((group >> 4) & 255U);
  if (rest == 3) {
    out += static_cast<char>((group >> 10) & 255U);
    out += static_cast<char>((group >> 2) & 255U);
  }
  return out;
}

}  // namespace verl::kube
