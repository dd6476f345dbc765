#include "kubectl-verl/diagnose/gather.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace verl::cli {
namespace {

namespace fs = std::filesystem;

struct Folder {
  std::vector<fs::path> files{};
  std::vector<fs::path> folders{};
};

Result<Folder> list(const fs::path& path) {
  Folder folder;
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with('.')) continue;
    std::error_code unknown;
    if (entry->is_symlink(unknown) && entry->is_directory(unknown)) continue;  // could lead round in a circle
    if (entry->is_directory(unknown)) {
      folder.folders.push_back(entry->path());
    } else if (entry->is_regular_file(unknown)) {
      folder.files.push_back(entry->path());
    }
    if (folder.files.size() + folder.folders.size() > kPathLimit) {
      return failure(ErrorCode::TooLarge, fmt::format("{} holds more than {} files", path.string(), kPathLimit));
    }
  }
  if (error) return failure(ErrorCode::Unavailable, fmt::format("listing {}: {}", path.string(), error.message()));
  std::sort(folder.files.begin(), folder.files.end());
  std::sort(folder.folders.begin(), folder.folders.end());
  return folder;
}

Result<void> add_tree(const fs::path& path, const std::string& node, int depth, std::vector<DocumentPath>& out) {
  constexpr int kDepth = 16;
  if (depth > kDepth) return failure(ErrorCode::TooLarge, fmt::format("{} lies more than {} folders deep", path.string(), kDepth));
  const auto folder = list(path);
  if (!folder) return tl::unexpected<Error>(folder.error());
  for (const fs::path& file : folder->files) out.push_back({.path = file.string(), .node = node});
  if (out.size() > kPathLimit) return failure(ErrorCode::TooLarge, fmt::format("more than {} files", kPathLimit));
  for (const fs::path& below : folder->folders) {
    if (auto added = add_tree(below, node, depth + 1, out); !added) return added;
  }
  return {};
}

std::string name_of(const fs::path& folder) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);  // "." and "node-a/" have names too
  return (error ? folder : whole).filename().string();
}

Result<void> add(const std::string& argument, std::vector<DocumentPath>& out) {
  std::string path = argument;
  std::string node;
  std::error_code error;
  if (argument != "-" && !fs::exists(argument, error)) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || equals == 0) return failure(ErrorCode::NotFound, fmt::format("{}: no such file or folder", argument));
    node = argument.substr(0, equals);
    path = argument.substr(equals + 1);
    if (path != "-" && !fs::exists(path, error)) return failure(ErrorCode::NotFound, fmt::format("{}: no such file or folder", path));
  }
  if (path == "-" || !fs::is_directory(path, error)) {
    out.push_back({.path = path, .node = node});
    return {};
  }
  if (!node.empty()) return add_tree(path, node, 0, out);
  const auto folder = list(path);
  if (!folder) return tl::unexpected<Error>(folder.error());
  if (folder->folders.empty()) return add_tree(path, name_of(path), 0, out);
  for (const fs::path& file : folder->files) out.push_back({.path = file.string(), .node = {}});
  for (const fs::path& below : folder->folders) {
    if (auto added = add_tree(below, below.filename().string(), 1, out); !added) return added;
  }
  return {};
}

}  // namespace

Gathered document_paths(const std::vector<std::string>& arguments) {
  Gathered all;
  bool input = false;
  for (const std::string& argument : arguments) {
    std::vector<DocumentPath> found;
    if (auto added = add(argument, found); !added) {
      all.errors.push_back(added.error());
      continue;
    }
    if (found.empty()) all.errors.push_back({.code = ErrorCode::NotFound, .message = argument + ": no file in it"});
    for (DocumentPath& one : found) {
      if (one.path == "-" && std::exchange(input, true)) {
        all.errors.push_back({.code = ErrorCode::Invalid, .message = "standard input is named twice; it can be read once"});
      } else if (all.paths.size() < kPathLimit) {
        all.paths.push_back(std::move(one));
      } else {
        all.errors.push_back({.code = ErrorCode::TooLarge, .message = fmt::format("{}: more than {} files", argument, kPathLimit)});
        return all;
      }
    }
  }
  return all;
}

Result<diagnosis::ReadDocument> read_path(const DocumentPath& path, std::string_view format, const diagnosis::ReadOptions& options) {
  const bool input = path.path == "-";
  const int file = input ? STDIN_FILENO : ::open(path.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return failure(errno == EACCES ? ErrorCode::Denied : ErrorCode::Unavailable, fmt::format("{}: {}", path.path, std::strerror(errno)));
  diagnosis::DocumentReader reader(path.path, path.node, format, options);
  std::string piece(1 << 20, '\0');
  int fault = 0;
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fault = errno;
    if (got <= 0) break;
    reader.feed(std::string_view(piece).substr(0, static_cast<size_t>(got)));
  }
  if (!input) ::close(file);
  if (fault != 0) return failure(ErrorCode::Unavailable, fmt::format("{}: {}", path.path, std::strerror(fault)));
  return reader.finish();
}

}  // namespace verl::cli
