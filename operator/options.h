// The operator's command line as a value.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "kube/protocol/kubeconfig_choice.h"

namespace verl {

struct OperatorOptions {
  kube::ConfigFlags kube{};
  std::string config_file{};
  std::string token_key_file{};
  std::string tools_image{};
  Seconds lease_duration{15};
  Seconds renew_deadline{10};
  Seconds retry_period{2};
  int health_port{8081};   // 0: none
  int metrics_port{8080};  // 0: none
  std::string log_level{"info"};
  std::string name_space{};  // POD_NAMESPACE
  std::string identity{};    // POD_NAME
};

// Either options to run with, or the exit code of a command line that asked for help, for the version, or for nothing sensible.
struct ParsedOptions {
  std::optional<OperatorOptions> run{};
  int exit_code{0};
};

ParsedOptions parse_options(int argc, char** argv);

}  // namespace verl
