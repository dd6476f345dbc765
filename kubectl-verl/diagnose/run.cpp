#include "kubectl-verl/diagnose/run.h"

#include <algorithm>
#include <ostream>

#include "base/command_line.h"
#include "base/text.h"
#include "diagnosis/rule.h"
#include "kubectl-verl/diagnose/gather.h"
#include "kubectl-verl/diagnose/policy_file.h"
#include "kubectl-verl/diagnose/print_diagnosis.h"
#include "kubectl-verl/files.h"
#include "kubectl-verl/options.h"

namespace verl::cli {
namespace {

using diagnosis::Severity;

int fail(std::ostream& err, std::string_view doing, const Error& error, int code = kExitNoReport) {
  err << "kubectl-verl: " << doing << ": " << escape_controls(error.message) << "\n";
  return code;
}

int print(std::ostream& out, std::ostream& err, const std::string& text, int code) {
  out << text << std::flush;
  return out ? code : fail(err, "writing", {.code = ErrorCode::Unavailable, .message = "the output could not be written whole"});
}

// What --as takes that is no format, with the nearest that is.
std::string unknown_format(const std::string& name) {
  const auto formats = diagnosis::all_formats();
  if (name.empty() || diagnosis::format_named(formats, name) != nullptr) return {};
  std::vector<std::string> names;
  for (const diagnosis::Format& one : formats) names.emplace_back(one.name);
  const std::string near = nearest_word(name, names);
  return "no format is called \"" + escape_controls(name) + "\"" + (near.empty() ? "" : "; did you mean " + near + "?") + "; --formats lists them";
}

bool read(const diagnosis::ReadDocument& one) { return !one.format.empty() && !one.error; }

}  // namespace

int run_diagnose(const DiagnoseOptions& options, std::ostream& out, std::ostream& err) {
  if (options.list_formats) return print(out, err, print_formats(), kExitWell);
  if (options.list_rules) return print(out, err, diagnosis::rules_as_markdown(), kExitWell);
  if (const std::string unknown = unknown_format(options.format); !unknown.empty()) {
    err << "kubectl-verl: " << unknown << "\n";
    return kExitUsage;
  }
  diagnosis::ReadOptions reading;
  reading.strip_comment_prefix = options.strip_comments;
  if (!options.policy.empty()) {
    const auto text = read_whole(options.policy);
    if (!text) return fail(err, "reading the policy", text.error());
    auto policy = parse_policy(*text);
    if (!policy) return fail(err, options.policy, policy.error());
    reading.policy = std::move(*policy);
  }
  const Gathered gathered = document_paths(options.paths);
  for (const Error& error : gathered.errors) fail(err, "looking for documents", error);

  std::vector<diagnosis::ReadDocument> documents;
  bool all_opened = gathered.errors.empty();
  for (const DocumentPath& path : gathered.paths) {
    auto document = read_path(path, options.format, reading);
    if (document) {
      documents.push_back(std::move(*document));
      continue;
    }
    all_opened = false;
    fail(err, "reading", document.error());
  }
  const diagnosis::Diagnosis diagnosis = diagnosis::diagnose(documents, reading.policy);
  const bool any_read = std::any_of(documents.begin(), documents.end(), read);
  const auto worst = diagnosis::gravest(diagnosis);
  // Below an error in order, but not in what it means: nobody knows whether all is well.
  const bool unknown = std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const diagnosis::Finding& one) { return one.severity == Severity::Unknown; });
  const bool found = unknown || (worst && *worst >= options.fail_on);
  const int code = !all_opened || !any_read ? kExitNoReport : found ? kExitFindings : kExitWell;
  return print(out, err, print_diagnosis(documents, diagnosis, options.output, options.style), code);
}

}  // namespace verl::cli
