#include "base/read_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace verl {
namespace {

namespace fs = std::filesystem;

class Folder final {
 public:
  Folder() {
    char name[] = "/tmp/verl-read-file-XXXXXX";
    path_ = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_{};
};

TEST(ReadFile, GivesTheWholeTextUpToTheLimit) {
  const Folder folder;
  const std::string text = "a\0b\n" + std::string(200000, 'x');
  const std::string path = folder.file("f", text);
  const auto whole = read_file(path, Bytes{static_cast<std::int64_t>(text.size())});
  ASSERT_TRUE(whole.has_value()) << whole.error().message;
  EXPECT_EQ(whole->text, text);
  const auto over = read_file(path, Bytes{static_cast<std::int64_t>(text.size()) - 1});
  ASSERT_FALSE(over.has_value());
  EXPECT_EQ(over.error().code, ErrorCode::TooLarge);
  EXPECT_NE(over.error().message.find(path), std::string::npos);
  EXPECT_EQ(read_file(folder.file("empty", ""), Bytes{0}).value().text, "");
}

TEST(ReadFile, TellsWhoElseCanRead) {
  const Folder folder;
  const std::string path = folder.file("f", "secret");
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_FALSE(read_file(path, Bytes{100}).value().others_can_read);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_TRUE(read_file(path, Bytes{100}).value().others_can_read);
}

TEST(ReadFile, WhatIsNoFileIsAnErrorOfItsKind) {
  const Folder folder;
  const auto code = [](const Result<FileText>& read) { return read ? ErrorCode::Unknown : read.error().code; };
  EXPECT_EQ(code(read_file(folder / "missing", Bytes{100})), ErrorCode::NotFound);
  EXPECT_EQ(code(read_file("/tmp", Bytes{100})), ErrorCode::Invalid);
  EXPECT_EQ(code(read_file("/tmp", Bytes{100}, FileKind::Any)), ErrorCode::Invalid);
  EXPECT_EQ(code(read_file("/dev/zero", Bytes{100})), ErrorCode::Invalid);
  EXPECT_EQ(code(read_file("/dev/zero", Bytes{100}, FileKind::Any)), ErrorCode::TooLarge) << "an endless file ends at the limit";
}

TEST(ReadFile, APipeIsReadOnlyWhereItWasAskedFor) {
  const Folder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto refused = read_file(path, Bytes{100});  // nobody writes: this must not hang
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, path + " is not a regular file");
  const std::jthread writer([&] { std::ofstream(path) << "text"; });
  EXPECT_EQ(read_file(path, Bytes{100}, FileKind::Any).value().text, "text");
}

}  // namespace
}  // namespace verl
