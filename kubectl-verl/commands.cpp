#include "kubectl-verl/commands.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "base/text.h"
#include "kubectl-verl/files.h"
#include "kubectl-verl/job_file.h"
#include "kubectl-verl/print_plan.h"
#include "kubectl-verl/report_input.h"
#include "kubectl-verl/source.h"

namespace verl::cli {
namespace {

int fail(const Edges& edges, std::string_view doing, const Error& error) {
  edges.err << "kubectl-verl: " << doing << ": " << escape_controls(error.message) << "\n";
  return kExitNoReport;
}

int print(const Edges& edges, const std::string& text, int code) {
  edges.out << text << std::flush;
  if (!edges.out) return fail(edges, "writing", {.code = ErrorCode::Unavailable, .message = "the output could not be written whole"});
  return code;
}

// Decisions need every kind: a placement made without knowing the queue or the pods would be a guess.
Result<Source> load_for_decision(const Options& options, const Edges& edges) {
  auto source = load_source(options, edges, Extent::Everything);
  if (!source || source->held.not_read.empty()) return source;
  return failure(ErrorCode::Denied, "what decisions need could not be read: " + unread(*source));
}

}  // namespace

int run_report(const Options& options, const Edges& edges) {
  const auto source = load_source(options, edges, Extent::Readiness);
  if (!source) return fail(edges, "reading the cluster", source.error());
  for (const snapshot::NotRead& one : source->held.not_read) {
    if (one.resource == "nodes") return fail(edges, "reading the cluster", {.code = ErrorCode::Denied, .message = one.why});
  }
  const report::ReadinessReport report = report::build(report_input(*source));
  return print(edges, report::render(report, options.format, options.style), report::fails(report, options.fail_on) ? kExitFindings : kExitWell);
}

int run_plan(const Options& options, const Edges& edges) {
  auto source = load_for_decision(options, edges);
  if (!source) return fail(edges, "reading the cluster", source.error());
  std::string uid;
  if (!options.file.empty()) {
    const auto text = read_whole(options.file);
    if (!text) return fail(edges, "reading the job", text.error());
    auto job = parse_job(*text, source->name_space);
    if (!job) return fail(edges, options.file, job.error());
    uid = suppose(*source, std::move(*job));
  } else {
    const auto job = find_job(*source, options.job);
    if (!job) return fail(edges, "finding the job", job.error());
    uid = job->meta.uid;
  }
  const PlanAnswer answer = plan_of(*source, uid);
  return print(edges, print_plan(answer, options.format, options.style), fits(answer) ? kExitWell : kExitFindings);
}

int run_explain(const Options& options, const Edges& edges) {
  const auto source = load_for_decision(options, edges);
  if (!source) return fail(edges, "reading the cluster", source.error());
  const auto job = find_job(*source, options.job);
  if (!job) return fail(edges, "finding the job", job.error());
  return print(edges, print_explanation(plan_of(*source, job->meta.uid), options.format, options.style), kExitWell);
}

int run_snapshot(const Options& options, const Edges& edges) {
  std::string origin;
  std::string name_space;
  const auto document = read_live(options, edges, Extent::Everything, origin, name_space);
  if (!document) return fail(edges, "reading the cluster", document.error());
  if (document->contains("notRead")) {
    for (const auto& one : (*document)["notRead"]) {
      edges.err << "kubectl-verl: not in the snapshot: " << escape_controls(one.value("resource", "")) << ": " << escape_controls(one.value("why", "")) << "\n";
    }
  }
  const std::string text = document->dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (options.file.empty() || options.file == "-") return print(edges, text, kExitWell);
  const auto written = write_whole(options.file, text);
  return written ? kExitWell : fail(edges, "writing the snapshot", written.error());
}

}  // namespace verl::cli
