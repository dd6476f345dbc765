// How long a job whose plan could not be carried out is left alone: 1, 2, 4, 8, 16 s, while all other jobs go on.
// An apiserver that does not answer at all is another matter: then the whole loop pauses (loop.cpp).
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/time.h"
#include "kube/protocol/backoff.h"

namespace verl::controller {

class JobBackoff final {
 public:
  void failed(const std::string& job_uid, kube::Instant now);
  void went_well(const std::string& job_uid) { waits_.erase(job_uid); }
  template <class Exists>
  void keep_only(Exists exists) {
    std::erase_if(waits_, [&](const auto& entry) { return !exists(entry.first); });
  }

  // Zero: it may be tried now.
  kube::Instant::duration left(const std::string& job_uid, kube::Instant now) const;

 private:
  struct Wait {
    int failures{0};
    kube::Instant until{};
  };
  std::map<std::string, Wait> waits_{};
};

// The pause after so many failures in a row, 1 to ∞.
Seconds pause_after(int failures);

}  // namespace verl::controller
