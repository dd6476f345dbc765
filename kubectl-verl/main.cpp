// kubectl-verl: `kubectl verl report`, plan, explain, snapshot, diagnose. Wires flags to commands.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/command_line.h"
#include "kubectl-verl/commands.h"
#include "kubectl-verl/diagnose/run.h"
#include "kubectl-verl/version.h"

namespace {

using namespace verl;
using cli::DiagnoseOptions;
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

// diagnose and its two names for one use each.
CLI::App* add_diagnose(CLI::App& app, const char* name, const char* what, DiagnoseOptions& options, Words& words) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("paths", options.paths, "files, or folders of one node each; NODE=PATH says whose it is; - or nothing is standard input");
  command->add_option("--as", options.format, "the format of every document, instead of telling by content");
  command->add_option("--policy", options.policy, "limits to judge by: a ReadinessPolicy, a DiagnosisPolicy or both");
  command->add_option("--fail-on", words.fail_on, "exit 79 from this level on: error, warning or info; Unknown is an error")
      ->check(CLI::IsMember({"error", "warning", "info"}))->capture_default_str();
  command->add_option("-o,--output", words.output, "table or json; json carries every value that was read")->check(CLI::IsMember({"table", "json"}))->capture_default_str();
  command->add_flag("--strip-comments", options.strip_comments, "take \"# \" off the beginning of every line first");
  command->add_flag("--formats", options.list_formats, "list the formats");
  command->add_flag("--rules", options.list_rules, "print every rule: what it means and what to do");
  command->add_flag("--ascii", options.style.ascii, "no characters beyond ASCII");
  command->add_flag("--no-color", words.no_color, "no colours; so does NO_COLOR");
  command->add_flag("-v,--verbose", options.style.all, "leave nothing out for length");
  return command;
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
  CLI::App app{"Says which nodes are fit for multi-node training, what would be decided about a job, and what files from nodes show. Writes nothing to a cluster."};
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

  DiagnoseOptions diagnose_options;
  CLI::App* diagnose = add_diagnose(app, "diagnose", "what files and logs from nodes say: settings, topology, clocks, links, benchmarks", diagnose_options, words);
  CLI::App* lint = add_diagnose(app, "lint", "diagnose, for settings: environments, nccl.conf, manifests", diagnose_options, words);
  CLI::App* nccl_log = add_diagnose(app, "nccl-log", "diagnose, for logs of a run: NCCL_DEBUG=INFO, Ray, PyTorch", diagnose_options, words);

  CLI::App* version = app.add_subcommand("version", "print the version");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for_help = error.get_exit_code() == 0;
    if (const std::string unknown = unknown_argument(app, "kubectl-verl"); !asked_for_help && !unknown.empty()) return usage(unknown);
    return app.exit(error) == 0 ? code_after_output("kubectl-verl", cli::kExitWell) : cli::kExitUsage;
  }
  if (diagnose->parsed() || lint->parsed() || nccl_log->parsed()) {
    if (nccl_log->parsed() && diagnose_options.format.empty()) diagnose_options.format = "log";
    if (diagnose_options.paths.empty() && ::isatty(STDIN_FILENO) == 1 && !diagnose_options.list_formats && !diagnose_options.list_rules) {
      return usage("nothing to read: give files or folders, or pipe text in");
    }
    if (diagnose_options.paths.empty()) diagnose_options.paths = {"-"};
    diagnose_options.fail_on = words.fail_on == "info" ? diagnosis::Severity::Info : words.fail_on == "warning" ? diagnosis::Severity::Warning : diagnosis::Severity::Error;
    diagnose_options.output = words.output == "json" ? cli::DiagnosisOutput::Json : cli::DiagnosisOutput::Table;
    diagnose_options.style.colour = ::isatty(STDOUT_FILENO) == 1 && !words.no_color && !set("NO_COLOR");
    return cli::run_diagnose(diagnose_options, std::cout, std::cerr);
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
