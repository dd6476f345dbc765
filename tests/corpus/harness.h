// Runs a case of the shared corpus through diagnosis: once as it stands, once with hosts, addresses and devices renamed, so
// that no answer hangs on a name. The corpus lies beside the checkout and is not part of it; without it the cases are
// skipped, and fail where the environment says CI=true.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.h"

namespace verl::corpus {

// Old text, new text of the same length (columns stay where they are). The longest old text is tried first at each place.
using Renames = std::vector<std::pair<std::string, std::string>>;

// One document of a case and the node it is given for; an empty node: not said.
struct Given {
  std::string node{};
  std::string file{};    // relative to the corpus
  std::string format{};  // empty: recognised by content, as a user would have it
};

struct Outcome {
  std::vector<diagnosis::ReadDocument> documents{};
  diagnosis::Diagnosis diagnosis{};

  // Findings with that id (and subject, when given).
  std::vector<diagnosis::Finding> findings(std::string_view id, std::string_view subject = {}) const;
  // The only finding with that id and subject; anything else fails the test and gives an empty one.
  diagnosis::Finding finding(std::string_view id, std::string_view subject = {}) const;
  // The value of that name in the document (its index in `documents`); absent fails the test.
  diagnosis::Scalar value(size_t document, std::string_view name) const;
  double number(size_t document, std::string_view name) const;   // int64, uint64 or double
  std::string text(size_t document, std::string_view name) const;
  std::string unit(size_t document, std::string_view name) const;
  // "id subject" of all findings at or above the severity, in order: for "nothing else".
  std::vector<std::string> at_least(diagnosis::Severity severity) const;
  const diagnosis::NodeFacts& facts(size_t document, std::string_view node = {}) const;
};

class Case {
 public:
  Case(std::string id, Renames renames, bool renamed);

  std::string text(const std::string& file) const;       // the file as the test reads it
  std::string as(std::string_view original) const;       // what a name of the corpus is called in this run
  Outcome diagnose(const std::vector<Given>& given, const diagnosis::Policy& policy = {}, diagnosis::ReadOptions options = {}) const;

 private:
  std::string id_;
  Renames renames_;
};

bool available();  // is the corpus there? When it must be and is not, fails the test.

}  // namespace verl::corpus

// CORPUS(a05, {{"mlx5_", "hfi7_"}}) { const auto outcome = c.diagnose({{.file = "a-nccl-env/a05.env"}}); ... }
// defines Corpus.a05 and Corpus.a05_Renamed.
#define CORPUS(id, ...)                                                        \
  static void corpus_##id(const verl::corpus::Case& c);                        \
  TEST(Corpus, id) {                                                           \
    if (!verl::corpus::available()) GTEST_SKIP() << "no corpus";               \
    corpus_##id(verl::corpus::Case(#id, __VA_ARGS__, false));                  \
  }                                                                            \
  TEST(Corpus, id##_Renamed) {                                                 \
    if (!verl::corpus::available()) GTEST_SKIP() << "no corpus";               \
    corpus_##id(verl::corpus::Case(#id, __VA_ARGS__, true));                   \
  }                                                                            \
  static void corpus_##id(const verl::corpus::Case& c)
