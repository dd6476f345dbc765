#include "operator/controller/token.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/broken_invariant.h"
#include "base/text.h"

namespace verl::controller {

Result<TokenKey> TokenKey::from_text(std::string_view text) {
  constexpr size_t kShortest = 32;
  const std::string_view key = trim(text);
  if (key.size() < kShortest) {
    return failure(ErrorCode::Invalid, fmt::format("the token key has {} characters, wants at least {}", key.size(), kShortest));
  }
  return TokenKey(std::string(key));
}

std::string TokenKey::token(std::string_view job_uid) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(job_uid.data());
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), data, job_uid.size(), digest.data(), &length) == nullptr) {
    broken_invariant("HMAC-SHA256 is not available in this OpenSSL");
  }
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace verl::controller
