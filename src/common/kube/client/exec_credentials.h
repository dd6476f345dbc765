// Tokens and certificates out of a credential plugin (client.authentication.k8s.io): one run at a time, kept until they expire.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "kube/client/credentials.h"
#include "kube/protocol/client_config.h"

namespace verl::kube {

struct PluginCall {
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::string> environment{};  // complete, "NAME=value"
  bool operator==(const PluginCall&) const = default;
};

// Runs it and returns its standard output. NotFound when there is no such command; Timeout when it was killed at the limit.
using RunPlugin = std::function<Result<std::string>(const PluginCall&, std::chrono::milliseconds limit, std::stop_token stop)>;

std::unique_ptr<Credentials> make_exec_credentials(const ClientConfig& config, std::shared_ptr<Clock> clock);
std::unique_ptr<Credentials> make_exec_credentials(const ClientConfig& config, std::shared_ptr<Clock> clock, RunPlugin run);

// The real one: standard input is /dev/null, output is limited, the whole process group is killed at the limit or on stop.
Result<std::string> run_plugin(const PluginCall& call, std::chrono::milliseconds limit, std::stop_token stop);

}  // namespace verl::kube
