// What diagnosis has to say: one rule, on one subject, with the lines that prove it. What the rules are stands in rule.h.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verl::diagnosis {

// In order of gravity. Unknown: something that must be known could not be read or told; it never counts as well.
enum class Severity { Info, Warning, Unknown, Error };

std::string_view to_string(Severity severity);  // "info", "warning", "unknown", "error"

// A place in what was given to us. The source is filled in by diagnose(): parsers leave it empty.
struct Evidence {
  std::string source{};    // "node-a/nccl.env", "-" for standard input, "VerlJob rl/ppo: pools[0].env"
  std::int64_t line{0};    // from 1; 0: not of one line
  std::string text{};      // the line as it stands there, cut to kEvidenceBytes; never a secret
  bool operator==(const Evidence&) const = default;
};

constexpr std::size_t kEvidenceBytes = 400;

struct Finding {
  std::string id{};                   // of a rule: "NCCL101", "topology-acs-redirect"
  Severity severity{Severity::Unknown};
  std::vector<std::string> nodes{};   // whom it concerns; empty: diagnose() writes the node of the document
  std::string subject{};              // variable, device, interface, GPU pair: "NCCL_IB_HCA", "mlx5_1/1"
  std::string seen{};                 // "8M"
  std::string wanted{};               // "8388608"
  std::string message{};              // one sentence: what follows from it, with the values in it
  std::string remedy{};               // what to do; empty only for Info
  std::vector<Evidence> evidence{};
  bool operator==(const Finding&) const = default;
};

}  // namespace verl::diagnosis
