#include "operator/options.h"

#include <CLI/CLI.hpp>

#include "base/command_line.h"
#include "base/text.h"

namespace verl {
namespace {

// "15s", "2m", "15": whole seconds, as leases count them.
std::string parse_seconds(const std::string& text, Seconds& into) {
  std::string_view digits = text;
  std::int64_t scale = 1;
  if (digits.ends_with('s')) digits.remove_suffix(1);
  if (digits.ends_with('m')) {
    digits.remove_suffix(1);
    scale = 60;
  }
  const auto value = parse_int(digits);
  if (!value || *value < 1 || *value > 3600) return "wants whole seconds from 1s to 3600s";
  into = Seconds{*value * scale};
  return {};
}

void add_seconds(CLI::App& app, const std::string& name, Seconds& into, const std::string& help) {
  app.add_option_function<std::string>(name, [&into, name](const std::string& text) {
       const std::string problem = parse_seconds(text, into);
       if (!problem.empty()) throw CLI::ValidationError(name, problem);
     }, help)->type_name("DURATION")->default_str(std::to_string(into.count()) + "s");
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  OperatorOptions options{};
  CLI::App app{"Runs VerlJobs: places gangs on nodes that were shown to be fit, creates their pods, recovers them.", "verl-operator"};
  app.require_subcommand(1);
  CLI::App* version = app.add_subcommand("version", "print the version");
  CLI::App* run = app.add_subcommand("run", "run until told to stop (SIGTERM)");
  run->add_option("--config", options.config_file, "configuration file (topology levels, ports, heartbeat, presets)")->required();
  run->add_option("--token-key-file", options.token_key_file, "file with the key that job tokens are derived from")->required();
  run->add_option("--tools-image", options.tools_image, "image with verl-container-check, which every pod of a job copies from it")
      ->required()
      ->check([](const std::string& image) { return image.empty() || image.find_first_of(" \t\r\n") != std::string::npos ? "wants an image reference" : ""; });
  add_seconds(*run, "--leader-elect-lease-duration", options.lease_duration, "a leader that was not seen renewing for this long is replaced");
  add_seconds(*run, "--leader-elect-renew-deadline", options.renew_deadline, "a leader that could not renew for this long stops writing");
  add_seconds(*run, "--leader-elect-retry-period", options.retry_period, "time between attempts");
  run->add_option("--health-port", options.health_port, "port of /healthz and /readyz; 0: none")->check(CLI::Range(0, 65535))->capture_default_str();
  run->add_option("--metrics-port", options.metrics_port, "port of /metrics; 0: none")->check(CLI::Range(0, 65535))->capture_default_str();
  run->add_option("--log-level", options.log_level, "debug, info, warn or error")->check(CLI::IsMember({"debug", "info", "warn", "error"}))->capture_default_str();
  run->add_option("--kubeconfig", options.kube.kubeconfig, "kubeconfig file; in a cluster the pod's service account is used");
  run->add_option("--context", options.kube.context, "context of the kubeconfig");
  run->add_option("--namespace", options.name_space, "the operator's own namespace")->envname("POD_NAMESPACE");
  run->add_option("--identity", options.identity, "name in the leader's lease")->envname("POD_NAME");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    if (const std::string unknown = unknown_argument(app, "verl-operator"); !asked_for_help && !unknown.empty()) {
      std::fprintf(stderr, "verl-operator: %s\n", unknown.c_str());
      return {.run = std::nullopt, .exit_code = 64};
    }
    return {.run = std::nullopt, .exit_code = app.exit(error) == 0 ? code_after_output("verl-operator", 0) : 64};
  }
  if (version->parsed()) {
    std::printf("verl-operator %s\n", VERL_VERSION);
    return {.run = std::nullopt, .exit_code = code_after_output("verl-operator", 0)};
  }
  return {.run = options, .exit_code = 0};
}

}  // namespace verl
