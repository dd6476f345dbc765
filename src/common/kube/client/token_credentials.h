// A fixed token, or one out of a file that is read again every minute, as projected service account tokens need.
#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "kube/client/credentials.h"
#include "kube/client/read_file.h"

namespace verl::kube {

struct TokenOptions {
  std::string token{};       // used as long as the file cannot be read
  std::string file{};        // empty: the token is fixed
  Seconds reread_period{60};
  std::function<void(const std::string&)> warn{};  // a failed re-read, once until it works again
};

// Neither token nor file: grants nothing (client certificates speak for themselves).
std::unique_ptr<Credentials> make_token_credentials(TokenOptions options, ReadFile read, std::shared_ptr<Clock> clock);

}  // namespace verl::kube
