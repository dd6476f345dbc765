// Who we are, request by request: a token out of a file or a plugin is read again while the process lives.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"

namespace verl::kube {

struct Grant {
  std::string authorization{};    // "Bearer ...", or "" when the client certificate alone speaks for us
  std::string certificate_pem{};  // from a plugin, or ""
  std::string key_pem{};
};

class Credentials {
 public:
  virtual ~Credentials() = default;
  virtual Result<Grant> grant(std::chrono::milliseconds limit, std::stop_token stop) = 0;

  // The server answered 401 to a request that carried `used` and began at `began`. True when the next grant may differ.
  virtual bool refused(const Grant& used, std::chrono::steady_clock::time_point began) = 0;
};

}  // namespace verl::kube
