#include "tests/corpus/harness.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace verl::corpus {
namespace {

namespace fs = std::filesystem;
using diagnosis::Finding;

fs::path folder() {
  if (const char* given = std::getenv("VERL_CORPUS")) return given;
  const char* source = std::getenv("VERL_SOURCE");
  return fs::path(source ? source : ".") / ".." / "shared" / "corpus";
}

std::string renamed(std::string_view text, const Renames& renames) {
  std::string out;
  while (!text.empty()) {
    const auto hit = std::find_if(renames.begin(), renames.end(), [&](const auto& one) { return text.starts_with(one.first); });
    if (hit == renames.end()) {
      out += text.front();
      text.remove_prefix(1);
    } else {
      out += hit->second;
      text.remove_prefix(hit->first.size());
    }
  }
  return out;
}

}  // namespace

bool available() {
  if (fs::exists(folder() / "cases.tsv")) return true;
  const char* ci = std::getenv("CI");
  if (ci && std::string_view(ci) == "true") ADD_FAILURE() << "CI=true and no corpus at " << folder();
  return false;
}

Case::Case(std::string id, Renames renames, bool rename) : id_(std::move(id)), renames_(std::move(renames)) {
  if (rename && renames_.empty()) ADD_FAILURE() << id_ << ": nothing is renamed";
  for (const auto& [from, to] : renames_) EXPECT_EQ(from.size(), to.size()) << id_ << ": " << from << " and " << to << " differ in length";
  if (!rename) renames_.clear();
  std::stable_sort(renames_.begin(), renames_.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
}

std::string Case::text(const std::string& file) const {
  std::ifstream in(folder() / file, std::ios::binary);
  if (!in) ADD_FAILURE() << id_ << ": no file " << file;
  std::ostringstream text;
  text << in.rdbuf();
  return renamed(text.str(), renames_);
}

std::string Case::as(std::string_view original) const { return renamed(original, renames_); }

Outcome Case::diagnose(const std::vector<Given>& given, const diagnosis::Policy& policy, diagnosis::ReadOptions options) const {
  options.policy = policy;
  Outcome outcome;
  for (const Given& one : given) {
    const std::string name = "document-" + std::to_string(outcome.documents.size());
    outcome.documents.push_back(diagnosis::read_document(name, as(one.node), text(one.file), one.format, options));
  }
  outcome.diagnosis = diagnosis::diagnose(outcome.documents, policy);
  return outcome;
}

std::vector<Finding> Outcome::findings(std::string_view id, std::string_view subject) const {
  std::vector<Finding> found;
  std::copy_if(diagnosis.findings.begin(), diagnosis.findings.end(), std::back_inserter(found),
               [&](const Finding& one) { return one.id == id && (subject.empty() || one.subject == subject); });
  return found;
}

Finding Outcome::finding(std::string_view id, std::string_view subject) const {
  const std::vector<Finding> found = findings(id, subject);
  if (found.size() == 1) return found.front();
  std::string all;
  for (const std::string& one : at_least(diagnosis::Severity::Info)) all += "\n  " + one;
  ADD_FAILURE() << found.size() << " findings " << id << " on \"" << subject << "\", one wanted; there are:" << all;
  return {};
}

diagnosis::Scalar Outcome::value(size_t document, std::string_view name) const {
  const auto& values = documents.at(document).reading.values;
  const auto found = std::find_if(values.begin(), values.end(), [&](const diagnosis::Value& one) { return one.name == name; });
  if (found != values.end()) return found->value;
  std::string all;
  for (const diagnosis::Value& one : values) all += "\n  " + one.name;
  ADD_FAILURE() << "no value " << name << "; there are:" << all;
  return {};
}

double Outcome::number(size_t document, std::string_view name) const {
  const diagnosis::Scalar scalar = value(document, name);
  if (const auto* one = std::get_if<std::int64_t>(&scalar)) return static_cast<double>(*one);
  if (const auto* one = std::get_if<std::uint64_t>(&scalar)) return static_cast<double>(*one);
  if (const auto* one = std::get_if<double>(&scalar)) return *one;
  ADD_FAILURE() << name << " is no number";
  return 0;
}

std::string Outcome::text(size_t document, std::string_view name) const {
  const diagnosis::Scalar scalar = value(document, name);
  if (const auto* one = std::get_if<std::string>(&scalar)) return *one;
  ADD_FAILURE() << name << " is no text";
  return {};
}

std::string Outcome::unit(size_t document, std::string_view name) const {
  const auto& values = documents.at(document).reading.values;
  const auto found = std::find_if(values.begin(), values.end(), [&](const diagnosis::Value& one) { return one.name == name; });
  return found == values.end() ? "" : found->unit;
}

std::vector<std::string> Outcome::at_least(diagnosis::Severity severity) const {
  std::vector<std::string> all;
  for (const Finding& one : diagnosis.findings) {
    if (one.severity >= severity) all.push_back(one.id + " " + one.subject);
  }
  return all;
}

const diagnosis::NodeFacts& Outcome::facts(size_t document, std::string_view node) const {
  for (const auto& [name, facts] : documents.at(document).reading.nodes) {
    if (name == node) return facts;
  }
  ADD_FAILURE() << "no facts about node \"" << node << "\" in document " << document;
  static const diagnosis::NodeFacts kNothing{};
  return kNothing;
}

}  // namespace verl::corpus
