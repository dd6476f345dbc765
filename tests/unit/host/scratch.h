// A directory of its own for one test, gone afterwards.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace verl::host {

class Scratch final {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "verl-host.XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view below = {}) const { return path_ + std::string(below); }
  void put(std::string_view below, std::string_view text) const {
    const std::filesystem::path at = path(below);
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  void link(std::string_view below, const std::string& target) const {
    const std::filesystem::path at = path(below);
    std::filesystem::create_directories(at.parent_path());
    std::filesystem::create_symlink(target, at);
  }

 private:
  std::string path_{};
};

}  // namespace verl::host
