// A finding: what one check saw on one subject, what it wanted, and what to do about it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verl {

// Unknown means "we could not look" or "we cannot tell"; it never counts as a pass.
// Skipped means "does not apply here", and its finding says why.
enum class Verdict { Pass, Warn, Fail, Unknown, Skipped };

struct Finding {
  std::string check{};    // stable id in kebab-case words, a section of docs/checks.md: "mtu-interface"
  Verdict verdict{Verdict::Unknown};
  std::string subject{};  // what was looked at: "ens3f0", "mlx5_0/1", "chronyd"; empty for the whole node
  std::string seen{};     // "1500"
  std::string wanted{};   // ">= 9000"
  std::string remedy{};   // a command or a step; empty on Pass
  std::string message{};  // one sentence for people when seen/wanted are not enough
  bool operator==(const Finding&) const = default;
};

std::string_view to_string(Verdict verdict);

// The worst of the findings: Fail > Unknown > Warn > Pass; Skipped counts for nothing. No finding at all is Unknown.
Verdict worst(const std::vector<Finding>& findings);

}  // namespace verl
