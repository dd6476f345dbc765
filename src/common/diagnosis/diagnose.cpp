#include "diagnosis/diagnose.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

const Suppression* suppression_of(const Finding& finding, const Policy& policy) {
  const auto found = std::find_if(policy.suppressions.begin(), policy.suppressions.end(), [&](const Suppression& one) {
    const bool node = one.node.empty() || (!finding.nodes.empty() && std::all_of(finding.nodes.begin(), finding.nodes.end(),
                                                                                  [&](const std::string& name) { return matches(one.node, name); }));
    return one.id == finding.id && matches(one.subject, finding.subject) && node;
  });
  return found == policy.suppressions.end() ? nullptr : &*found;
}

Finding document_finding(std::string_view id, const ReadDocument& document, std::string seen) {
  Finding finding = finding_of(id, document.name);
  if (!document.node.empty()) finding.nodes.push_back(document.node);
  finding.seen = std::move(seen);
  return finding;
}

// What can be said of a text that no format is like.
std::string why_strange(std::string_view text) {
  if (trim(text).empty()) return "it is empty";
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return "it is UTF-16: convert it to UTF-8";
  if (text.find('\0') != std::string_view::npos) return "it is binary";
  return {};
}

void complete(Finding& finding, const ReadDocument& document) {
  if (finding.nodes.empty() && !document.node.empty()) finding.nodes.push_back(document.node);
  for (Evidence& one : finding.evidence) {
    if (one.source.empty()) one.source = document.name;
    one.text = shorten(one.text, kEvidenceBytes);
  }
  if (finding.evidence.empty()) finding.evidence.push_back({.source = document.name, .line = 0, .text = {}});
}

void gather(const ReadDocument& document, Fleet& fleet, std::vector<Finding>& out) {
  if (document.format.empty()) {
    out.push_back(document_finding("document-unrecognised", document, document.error ? document.error->message : ""));
    return;
  }
  if (document.error) {
    out.push_back(document_finding("document-unreadable", document, document.error->message));
    return;
  }
  for (Finding finding : document.reading.findings) {
    complete(finding, document);
    out.push_back(std::move(finding));
  }
  if (!document.reading.unread.empty()) {
    const auto lines = static_cast<std::int64_t>(document.reading.unread.size()) + document.reading.unread_more;
    Finding finding = document_finding("document-lines-unread", document, std::to_string(lines) + (lines == 1 ? " line" : " lines"));
    constexpr size_t kShown = 3;
    for (size_t i = 0; i < std::min(kShown, document.reading.unread.size()); ++i) {
      const UnreadLine& line = document.reading.unread[i];
      finding.evidence.push_back({.source = document.name, .line = line.line, .text = line.text});
    }
    out.push_back(std::move(finding));
  }
  for (const auto& [name, facts] : document.reading.nodes) merge(fleet[name.empty() ? document.node : name], facts);
}

void judge(const std::string& name, const NodeFacts& facts, const Policy& policy, std::vector<Finding>& out) {
  std::vector<Finding> found;
  for (const auto rules : {judge_nccl, judge_log, judge_topology, judge_time, judge_fabric, judge_benchmark, judge_kubernetes}) {
    rules(facts, policy, found);
  }
  for (Finding& finding : found) {
    if (finding.nodes.empty() && !name.empty()) finding.nodes.push_back(name);
    out.push_back(std::move(finding));
  }
}

auto order(const Finding& one) { return std::make_tuple(-static_cast<int>(one.severity), std::cref(one.id), std::cref(one.nodes), std::cref(one.subject), std::cref(one.seen), std::cref(one.message)); }

bool same(const Finding& a, const Finding& b) {
  return a.id == b.id && a.nodes == b.nodes && a.subject == b.subject && a.seen == b.seen && a.message == b.message;
}

}  // namespace

DocumentReader::DocumentReader(std::string name, std::string node, std::string_view format, ReadOptions options)
    : wanted_(format), options_(std::move(options)) {
  options_.name = name;
  document_.name = std::move(name);
  document_.node = std::move(node);
}

void DocumentReader::choose() {
  chosen_ = true;
  const std::vector<Format> formats = all_formats();
  const Format* found = wanted_.empty() ? recognise(formats, text_, document_.name) : format_named(formats, wanted_);
  if (!found) {
    if (wanted_.empty()) {
      const std::string why = why_strange(text_);
      if (!why.empty()) document_.error = Error{.code = ErrorCode::Invalid, .message = why};
      return;
    }
    document_.error = Error{.code = ErrorCode::Invalid, .message = "no format is called \"" + wanted_ + "\""};
    return;
  }
  format_ = *found;
  document_.format = std::string(found->name);
  if (!found->stream) return;
  stream_ = found->stream(options_);
  stream_->feed(text_);
  text_ = {};
}

void DocumentReader::feed(std::string_view piece) {
  if (stream_) return stream_->feed(piece);
  if (document_.error || (chosen_ && !format_)) return;  // nothing can be made of it
  if (!chosen_ && text_.size() + piece.size() >= kLikenessBytes) {
    const size_t head = kLikenessBytes - text_.size();
    text_ += piece.substr(0, head);
    piece.remove_prefix(head);
    choose();
    return feed(piece);
  }
  if (text_.size() + piece.size() > kDocumentBytes) {
    document_.error = Error{.code = ErrorCode::TooLarge, .message = "more than " + std::to_string(kDocumentBytes >> 20) + " MiB of text"};
    text_ = {};
    return;
  }
  text_ += piece;
}

ReadDocument DocumentReader::finish() {
  if (!chosen_) choose();
  if (stream_) {
    document_.reading = stream_->finish();
  } else if (format_ && !document_.error) {
    auto reading = format_->read(text_, options_);
    if (reading) {
      document_.reading = std::move(*reading);
    } else {
      document_.error = std::move(reading.error());
    }
  }
  return std::move(document_);
}

ReadDocument read_document(std::string name, std::string node, std::string_view text, std::string_view format, const ReadOptions& options) {
  DocumentReader reader(std::move(name), std::move(node), format, options);
  while (!text.empty()) {
    reader.feed(text.substr(0, kLikenessBytes));
    text.remove_prefix(std::min(text.size(), kLikenessBytes));
  }
  return reader.finish();
}

Diagnosis diagnose(const std::vector<ReadDocument>& documents, const Policy& policy) {
  Fleet fleet;
  std::vector<Finding> all;
  for (const ReadDocument& document : documents) gather(document, fleet, all);
  for (const auto& [name, facts] : fleet) judge(name, facts, policy, all);

  // The unnamed node beside named ones is no node of its own: its documents were judged, they cannot be compared.
  if (fleet.size() > 1) fleet.erase("");
  if (fleet.size() > 1) {
    for (const auto rules : {compare_nccl, compare_log, compare_topology, compare_time, compare_fabric, compare_benchmark, compare_kubernetes}) {
      rules(fleet, policy, all);
    }
    for (const ReadDocument& document : documents) {
      const bool own = std::any_of(document.reading.nodes.begin(), document.reading.nodes.end(), [](const auto& one) { return one.first.empty(); });
      if (document.node.empty() && own) all.push_back(document_finding("document-node-unknown", document, ""));
    }
  }

  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return order(a) < order(b); });
  Diagnosis result;
  for (Finding& finding : all) {
    if (const Suppression* one = suppression_of(finding, policy)) {
      result.suppressed.push_back({.finding = std::move(finding), .reason = one->reason});
      continue;
    }
    if (result.findings.empty() || !same(result.findings.back(), finding)) {
      result.findings.push_back(std::move(finding));
      continue;
    }
    constexpr size_t kMostEvidence = 64;
    std::vector<Evidence>& evidence = result.findings.back().evidence;
    for (Evidence& one : finding.evidence) {
      if (evidence.size() < kMostEvidence && std::find(evidence.begin(), evidence.end(), one) == evidence.end()) evidence.push_back(std::move(one));
    }
  }
  return result;
}

std::optional<Severity> gravest(const Diagnosis& diagnosis) {
  if (diagnosis.findings.empty()) return std::nullopt;
  return diagnosis.findings.front().severity;
}

}  // namespace verl::diagnosis
