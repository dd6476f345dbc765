// A job's Ray token: HMAC-SHA256(operator key, job UID) in hex. The operator recomputes it whenever it needs it, so it needs
// only `create` on Secrets and never reads one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace verl::controller {

class TokenKey final {
 public:
  // At least 32 bytes after trimming; the text itself is never shown.
  static Result<TokenKey> from_text(std::string_view text);

  std::string token(std::string_view job_uid) const;  // 64 hex digits

 private:
  explicit TokenKey(std::string key) : key_(std::move(key)) {}
  std::string key_;
};

}  // namespace verl::controller
