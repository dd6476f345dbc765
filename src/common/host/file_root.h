// Bounded reading below one directory that stands for "/" of a machine. Symbolic links resolve inside it, whatever they say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace verl::host {

class FileRoot final {
 public:
  static Result<FileRoot> open(const std::string& directory);
  FileRoot(FileRoot&& other) noexcept;
  FileRoot& operator=(FileRoot&&) = delete;
  FileRoot(const FileRoot&) = delete;
  FileRoot& operator=(const FileRoot&) = delete;
  ~FileRoot();

  Result<std::string> read_file(std::string_view path, Bytes limit) const;
  Result<std::vector<std::string>> list_dir(std::string_view path) const;
  Result<std::string> read_link(std::string_view path) const;
  Result<bool> exists(std::string_view path) const;
  Result<bool> is_directory(std::string_view path) const;
  Result<bool> is_mounted(std::string_view path, std::uint64_t filesystem) const;  // a folder of a file system with that magic number

 private:
  explicit FileRoot(int fd) : fd_(fd) {}
  Result<int> open_below(std::string_view path, int flags) const;
  int fd_{-1};
};

}  // namespace verl::host
