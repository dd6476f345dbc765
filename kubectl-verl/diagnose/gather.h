// From paths to documents: which files there are and whose they are. What is in them is for diagnosis to tell.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "diagnosis/diagnose.h"

namespace verl::cli {

struct DocumentPath {
  std::string path{};  // "-": standard input
  std::string node{};  // empty: not said
  bool operator==(const DocumentPath&) const = default;
};

// PATH or NODE=PATH (when no file is called that as a whole). A folder without folders in it is a node, and so is each folder in a
// folder; files beside folders name no node. Deeper folders belong to their node. Hidden files and what is no regular file are
// passed over. Sorted by name, so that the same folder gives the same answer. What is not there, is empty or goes beyond kPathLimit
// files is an error beside the rest.
struct Gathered {
  std::vector<DocumentPath> paths{};
  std::vector<Error> errors{};
};

Gathered document_paths(const std::vector<std::string>& arguments);

constexpr size_t kPathLimit = 20'000;

// Reads a file, or standard input, piece by piece.
Result<diagnosis::ReadDocument> read_path(const DocumentPath& path, std::string_view format, const diagnosis::ReadOptions& options);

}  // namespace verl::cli
