// verl-node-agent: looks at its own node. Wires options to the parts that do the work.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>

#include "base/command_line.h"
#include "base/read_file.h"
#include "host/recorder.h"
#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/protocol/user_agent.h"
#include "node-agent/agent/check.h"
#include "node-agent/agent/cluster_agent.h"
#include "node-agent/agent/version.h"

namespace {

using namespace verl;
using namespace verl::agent;

struct Options {
  std::string root{"/"};
  std::string node_name{};
  std::string output{"table"};
  std::string policy{};
  std::string fail_on{"error"};
  std::string record_to{};
  std::string lease_namespace{};
  std::string kubeconfig{};
  report::Style style{};
  bool no_color{false};
};

const char* const kProgram = "verl-node-agent";

int fail(const Error& error) {
  std::cerr << "verl-node-agent: " << error.message << "\n";
  return kExitNoReport;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

int check(const Options& options) {
  const auto host = open_host(options.root);
  if (!host) return fail(host.error());
  api::Expectations expectations;
  if (!options.policy.empty()) {
    const auto text = read_file(options.policy, Bytes{kMiB.count}, FileKind::Any).map_error(context("reading the policy"));
    if (!text) return fail(text.error());
    const auto declared = policy_expectations(text->text, options.policy);
    if (!declared) return fail(declared.error());
    expectations = *declared;
  }
  const auto format = options.output == "json" ? report::Format::Json : options.output == "yaml" ? report::Format::Yaml : report::Format::Table;
  report::Style style = options.style;
  const char* const no_color = std::getenv("NO_COLOR");
  style.colour = ::isatty(STDOUT_FILENO) == 1 && !options.no_color && (no_color == nullptr || *no_color == '\0');
  const auto node = check_node(**host, expectations, options.node_name.empty() ? host_name() : options.node_name);
  std::cout << print_report(node, format, style);
  const bool fails = report::fails(line_of(node), options.fail_on == "warning" ? report::FailOn::Warning : report::FailOn::Error);
  return code_after_output(kProgram, fails ? kExitFindings : kExitWell);
}

int record(const Options& options) {
  const auto host = open_host(options.root);
  if (!host) return fail(host.error());
  const host::Recorder recorder(**host);
  check_node(recorder, {}, "");
  const auto written = recorder.write(options.record_to);
  if (!written) return fail(written.error());
  std::cerr << "recorded " << *written << " files in " << options.record_to << "\n";
  return kExitWell;
}

// SIGTERM and SIGINT ask for a stop. Blocked everywhere but here, before any other thread exists.
class StopOnSignal final {
 public:
  StopOnSignal() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    waiter_ = std::jthread([this](std::stop_token ended) {
      const timespec moment{.tv_sec = 0, .tv_nsec = 200'000'000};
      while (!ended.stop_requested()) {
        if (::sigtimedwait(&signals_, nullptr, &moment) > 0) source_.request_stop();
      }
    });
  }
  std::stop_token token() const { return source_.get_token(); }

 private:
  sigset_t signals_{};
  std::stop_source source_{};
  std::jthread waiter_{};
};

int run(const Options& options) {
  const StopOnSignal stop;
  const auto config = kube::load_client_config({.kubeconfig = options.kubeconfig}, kube::client_environment(environ));
  if (!config) return fail(config.error());
  const SystemClock clock;
  const auto log = [&clock](const std::string& line) { std::cerr << format_rfc3339(clock.now()) << " " << line << std::endl; };
  const auto api = kube::connect(*config, {.user_agent = kube::user_agent("verl-node-agent", kVersion), .warn = log});
  if (!api) return fail(api.error());
  HostSource host(options.root);
  ClusterAgent agent(**api, [&host] { return host.open(); }, clock,
                     {.node_name = options.node_name, .lease_namespace = options.lease_namespace}, log);
  log("verl-node-agent " + std::string(kVersion) + " for node " + options.node_name);
  const auto ended = agent.run(stop.token());
  if (!ended) return fail(ended.error());
  log("stopped");
  return kExitWell;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Checks whether this node is fit for multi-node training, and tells the cluster."};
  app.require_subcommand(1);
  app.footer("Exit codes: 0 well, 1 the report could not be produced or written, 64 wrong usage, 79 findings at or above --fail-on.");
  app.set_help_all_flag("--help-all", "help of every command");

  CLI::App* check_command = app.add_subcommand("check", "check this node once and print the report");
  check_command->add_option("--root", options.root, "recorded host tree, or where the host's /sys, /proc and /etc are mounted")->capture_default_str();
  check_command->add_option("-o,--output", options.output, "table, json or yaml")->check(CLI::IsMember({"table", "json", "yaml"}))->capture_default_str();
  check_command->add_option("--policy", options.policy, "ReadinessPolicy file (YAML) to judge by; without it nothing undeclared is judged");
  check_command->add_option("--fail-on", options.fail_on, "exit 79 from this level on: error or warning; Unknown is an error")
      ->check(CLI::IsMember({"error", "warning"}))->capture_default_str();
  check_command->add_option("--node-name", options.node_name, "name to print");
  check_command->add_flag("--ascii", options.style.ascii, "no characters beyond ASCII");
  check_command->add_flag("--no-color", options.no_color, "no colours; so does NO_COLOR");
  check_command->add_flag("-v,--verbose", options.style.all, "leave nothing out for length");

  CLI::App* checks_command = app.add_subcommand("checks", "list the checks, one a line");
  CLI::App* record_command = app.add_subcommand("record", "record what the checks read, for check --root");
  record_command->add_option("directory", options.record_to, "new directory")->required();
  record_command->add_option("--root", options.root, "where the host's /sys, /proc and /etc are mounted")->capture_default_str();
  CLI::App* run_command = app.add_subcommand("run", "in a cluster: publish this node's NodeReadiness and renew its Lease");
  run_command->add_option("--root", options.root, "where the host's /sys, /proc and /etc are mounted, or a recorded host tree")->capture_default_str();
  run_command->add_option("--lease-namespace", options.lease_namespace, "namespace of the operator, where the Leases are")->required();
  run_command->add_option("--node-name", options.node_name, "this node")->envname("NODE_NAME")->required();
  run_command->add_option("--kubeconfig", options.kubeconfig, "outside a cluster");
  CLI::App* version_command = app.add_subcommand("version", "print the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    if (const std::string unknown = unknown_argument(app, kProgram); !asked_for_help && !unknown.empty()) {
      std::cerr << kProgram << ": " << unknown << "\n";
      return kExitUsage;
    }
    return app.exit(error) == 0 ? code_after_output(kProgram, kExitWell) : kExitUsage;
  }
  if (version_command->parsed()) {
    std::cout << kProgram << " " << kVersion << "\n";
    return code_after_output(kProgram, kExitWell);
  }
  if (checks_command->parsed()) {
    std::cout << print_checks();
    return code_after_output(kProgram, kExitWell);
  }
  if (record_command->parsed()) return record(options);
  if (run_command->parsed()) return run(options);
  if (check_command->parsed()) return check(options);
  return kExitUsage;
}
