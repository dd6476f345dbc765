// kubectl-verl: `kubectl verl report`, plan, explain, snapshot. Wires flags to commands.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/command_line.h"
#include "kubectl-verl/commands.h"
#include "kubectl-verl/version.h"

namespace {

using namespace verl;
using cli::Options;

struct Words {  // flags that are turned into values after parsing
  std::string output{"table"};
  std::string fail_on{"error"};
  bool no_color{false};
};

void add_cluster_flags(CLI::App& command, Options& options) {
  command.add_option("--kubeconfig", options.kube.kubeconfig, "kubeconfig file");
  command.add_option("--context", options.kube.context, "context of the kubeconfig");
  command.add_option("--cluster", options.kube.cluster, "cluster of the kubeconfig");
  command.add_option("--user", options.kube.user, "user of the kubeconfig");
  command.add_option("--as", options.kube.as, "user to impersonate");
  command.add_option("--as-group", options.kube.as_groups, "group to impersonate; may be given more than once")->allow_extra_args(false);
  command.add_option("-s,--server", options.kube.server, "address of the apiserver");
  command.add_option("-n,--namespace", options.kube.name_space, "namespace of the job");
  command.add_option("--operator-namespace", options.operator_namespace, "namespace of the operator; found by its ConfigMap when not given");
}

// `names` of the option for files; `several`: more than one may follow it, which only commands without arguments can allow.
void add_export_flags(CLI::App& command, Options& options, const char* names, bool several) {
  command.add_option(names, options.from, "read files of `kubectl verl snapshot` or `kubectl get -o json` instead of a cluster; may be given more than once")
      ->allow_extra_args(several);
  command.add_option("--level", options.levels, "NAME=LABEL, outermost first, for files that do not say")->allow_extra_args(false);
  command.add_option("--now", options.now, "decide as of this time (RFC 3339); with --from");
  command.add_flag("--assume-fresh", options.assume_fresh, "take every agent for alive; with --from");
}

void add_output_flags(CLI::App& command, Options& options, Words& words) {
  command.add_option("-o,--output", words.output, "table, json or yaml")->check(CLI::IsMember({"table", "json", "yaml"}))->capture_default_str();
  command.add_flag("--ascii", options.style.ascii, "no characters beyond ASCII");
  command.add_flag("--no-color", words.no_color, "no colours; so does NO_COLOR");
  command.add_flag("-v,--verbose", options.style.all, "leave nothing out for length");
}

int usage(std::string_view sentence) {
  std::cerr << "kubectl-verl: " << sentence << "\n";
  return cli::kExitUsage;
}

bool set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Words words;
  CLI::App app{"Says which nodes are fit for multi-node training, and what would be decided about a job. Writes nothing to a cluster."};
  app.name("kubectl verl");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 well, 1 the answer could not be produced or written, 64 wrong usage, 79 findings at or above --fail-on or a job that does not fit.");

  CLI::App* report = app.add_subcommand("report", "readiness of the cluster, worst first");
  add_cluster_flags(*report, options);
  add_export_flags(*report, options, "-f,--from", true);
  report->add_option("--fail-on", words.fail_on, "exit 79 from this level on: error or warning; Unknown is an error")
      ->check(CLI::IsMember({"error", "warning"}))->capture_default_str();
  add_output_flags(*report, options, words);

  CLI::App* plan = app.add_subcommand("plan", "where a job would be placed now, or why not");
  add_cluster_flags(*plan, options);
  add_export_flags(*plan, options, "--from", true);
  CLI::Option* file = plan->add_option("-f,--filename", options.file, "manifest of one VerlJob; - is standard input");
  plan->add_option("--job", options.job, "a job of the cluster or the files: NAME or NAMESPACE/NAME")->excludes(file);
  add_output_flags(*plan, options, words);

  CLI::App* explain = app.add_subcommand("explain", "why a job waits or where it is, with every node's reason");
  add_cluster_flags(*explain, options);
  add_export_flags(*explain, options, "--from", false);
  explain->add_option("job", options.job, "NAME or NAMESPACE/NAME")->required();
  add_output_flags(*explain, options, words);

  CLI::App* snapshot = app.add_subcommand("snapshot", "what decisions are made from, as one JSON file for --from; no Secrets");
  add_cluster_flags(*snapshot, options);
  snapshot->add_option("-o,--output", options.file, "file to write, readable by you alone; - or nothing: standard output");

  CLI::App* version = app.add_subcommand("version", "print the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    if (const std::string unknown = unknown_argument(app, "kubectl-verl"); !asked_for_help && !unknown.empty()) return usage(unknown);
    return app.exit(error) == 0 ? code_after_output("kubectl-verl", cli::kExitWell) : cli::kExitUsage;
  }
  if (plan->parsed() && options.file.empty() == options.job.empty()) return usage("plan needs one of -f FILE and --job NAME");
  if (options.from.empty() && (options.assume_fresh || !options.now.empty() || !options.levels.empty())) {
    return usage("--assume-fresh, --now and --level are for files: give --from, or leave them out");
  }
  options.format = words.output == "json" ? report::Format::Json : words.output == "yaml" ? report::Format::Yaml : report::Format::Table;
  options.fail_on = words.fail_on == "warning" ? report::FailOn::Warning : report::FailOn::Error;
  options.style.colour = ::isatty(STDOUT_FILENO) == 1 && !words.no_color && !set("NO_COLOR");

  const kube::ClientEnvironment environment = kube::client_environment(environ);
  const cli::Edges edges{.out = std::cout, .err = std::cerr, .environment = environment};
  if (version->parsed()) {
    std::cout << "kubectl-verl " << cli::kVersion << "\n";
    return code_after_output("kubectl-verl", cli::kExitWell);
  }
  if (report->parsed()) return cli::run_report(options, edges);
  if (plan->parsed()) return cli::run_plan(options, edges);
  if (explain->parsed()) return cli::run_explain(options, edges);
  return cli::run_snapshot(options, edges);
}
