#include "node-agent/incontainer/install.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace verl::incontainer {
namespace {

namespace fs = std::filesystem;

class Install : public ::testing::Test {
 protected:
  Install() {
    std::string name = (fs::temp_directory_path() / "verl-install.XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~Install() override { fs::remove_all(folder); }

  static std::string text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream(folder / name, std::ios::binary) << text; }

  fs::path folder{};
};

TEST_F(Install, CopiesTheWholeProgramForAllToRun) {
  const std::string program = std::string(200'000, 'x') + "end";
  put("from", program);
  fs::create_directory(folder / "bin");
  EXPECT_EQ(install(folder / "from", folder / "bin", "check"), "");
  EXPECT_EQ(text(folder / "bin/check"), program);
  EXPECT_EQ(fs::status(folder / "bin/check").permissions(), fs::perms(0755));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "bin"), {}), 1);
}

TEST_F(Install, ReplacesAnOlderOne) {
  put("from", "new");
  fs::create_directory(folder / "bin");
  put("bin/check", "old");
  EXPECT_EQ(install(folder / "from", folder / "bin", "check"), "");
  EXPECT_EQ(text(folder / "bin/check"), "new");
}

TEST_F(Install, SaysWhatItCouldNotDoAndLeavesNothing) {
  put("from", "new");
  EXPECT_EQ(install(folder / "absent", folder, "check"), "opening " + (folder / "absent").string() + ": No such file or directory");
  EXPECT_NE(install(folder / "from", folder / "absent", "check").find(": No such file or directory"), std::string::npos);
  fs::create_directories(folder / "bin/check/full");
  EXPECT_NE(install(folder / "from", folder / "bin", "check").find("renaming "), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "bin"), {}), 1);
}

}  // namespace
}  // namespace verl::incontainer
