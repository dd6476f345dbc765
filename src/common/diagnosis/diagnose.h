// From documents to a verdict: read each by its format, gather the facts of each node, apply every rule once.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/format.h"
#include "diagnosis/judge.h"

namespace verl::diagnosis {

struct ReadDocument {
  std::string name{};            // as people know it: "node-a/nccl.env", "-"
  std::string node{};            // whose it is; empty: not said
  std::string format{};          // empty: not recognised
  std::optional<Error> error{};  // could not be read as that format
  Reading reading{};
};

// Reads one document in pieces of any size: recognises it by its beginning, then streams it if its format can, else keeps it up
// to kDocumentBytes. `format` is empty or the name of one; an unknown name is an Error in the result.
class DocumentReader final {
 public:
  DocumentReader(std::string name, std::string node, std::string_view format, ReadOptions options);
  void feed(std::string_view piece);
  ReadDocument finish();

 private:
  void choose();

  ReadDocument document_{};
  std::string wanted_{};
  ReadOptions options_{};
  std::string text_{};
  bool chosen_{false};
  std::optional<Format> format_{};
  std::unique_ptr<StreamReader> stream_{};
};

ReadDocument read_document(std::string name, std::string node, std::string_view text, std::string_view format, const ReadOptions& options);

struct Suppressed {
  Finding finding{};
  std::string reason{};
  bool operator==(const Suppressed&) const = default;
};

struct Diagnosis {
  std::vector<Finding> findings{};       // gravest first, then by id, node and subject; each once
  std::vector<Suppressed> suppressed{};
  bool operator==(const Diagnosis&) const = default;
};

// Documents that name no node are one node together while no document names one.
Diagnosis diagnose(const std::vector<ReadDocument>& documents, const Policy& policy);

// The gravest severity; nothing when there is no finding.
std::optional<Severity> gravest(const Diagnosis& diagnosis);

}  // namespace verl::diagnosis
