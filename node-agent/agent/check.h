// `verl-node-agent check`, `record` and `checks`: one node, no cluster.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/node_readiness.h"
#include "base/result.h"
#include "host/host.h"
#include "node-agent/agent/print.h"

namespace verl::agent {

constexpr int kExitWell = 0;
constexpr int kExitNoReport = 1;
constexpr int kExitUsage = 64;
constexpr int kExitFindings = 79;

// The machine at `root`: a recorded one when it holds proc/verl-host.json, else the live one whose /sys, /proc and
// /etc are found there.
Result<std::unique_ptr<host::Host>> open_host(const std::string& root);

// For many looks: a recorded tree is read anew each time, for somebody may have edited it; the live machine is opened once.
class HostSource final {
 public:
  explicit HostSource(std::string root) : root_(std::move(root)) {}
  Result<std::shared_ptr<const host::Host>> open();

 private:
  std::string root_;
  std::shared_ptr<const host::Host> live_{};
};

// The expectations of the one ReadinessPolicy in a YAML or JSON text; `origin` names it in messages. A field that is wrong or
// that nobody knows is an Error: half a policy would judge half.
Result<api::Expectations> policy_expectations(std::string_view text, const std::string& origin);

// Looks once and judges by `expectations`.
api::NodeReadiness check_node(const host::Host& host, const api::Expectations& expectations, const std::string& node_name);

std::string print_checks();

}  // namespace verl::agent
