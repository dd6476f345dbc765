// The fuzzer's seeds are documents of our own: each is recognised by content as the format its folder is named after, and every format
// has some. A seed whose name begins with "damaged" is only read: it must neither crash nor pass for whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "diagnosis/diagnose.h"

namespace verl::diagnosis {
namespace {

namespace fs = std::filesystem;

fs::path seeds() {
  const char* source = std::getenv("VERL_SOURCE");
  return fs::path(source ? source : ".") / "tests/fuzz/seeds";
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(Seeds, AreRecognisedByContentAndReadWithoutLosingALine) {
  for (const Format& format : all_formats()) {
    const fs::path folder = seeds() / std::string(format.name);
    if (!fs::is_directory(folder)) {
      ADD_FAILURE() << "no seeds for " << format.name;
      continue;
    }
    for (const auto& file : fs::directory_iterator(folder)) {
      const std::string text = read(file.path());
      const bool damaged = file.path().filename().string().starts_with("damaged");
      const ReadDocument document = read_document(file.path().string(), "", text, damaged ? std::string(format.name) : "", {});
      if (damaged) {
        const bool said = document.error || !diagnose({document}, {}).findings.empty();
        EXPECT_TRUE(said) << file.path() << " passes for whole";
        continue;
      }
      EXPECT_EQ(document.format, format.name) << file.path();
      EXPECT_FALSE(document.error) << file.path() << ": " << (document.error ? document.error->message : "");
      EXPECT_FALSE(document.reading.values.empty()) << file.path() << " gives no value";
    }
  }
}

TEST(Seeds, FoldersAreNamedAfterFormats) {
  const auto formats = all_formats();
  for (const auto& folder : fs::directory_iterator(seeds())) {
    EXPECT_NE(format_named(formats, folder.path().filename().string()), nullptr) << folder.path();
  }
}

TEST(Seeds, GiveTheSameAnswerHoweverTheyAreCut) {
  for (const auto& file : fs::recursive_directory_iterator(seeds())) {
    if (!file.is_regular_file()) continue;
    const std::string text = read(file.path());
    const std::string format = file.path().parent_path().filename().string();
    DocumentReader reader("x", "", format, {});
    for (size_t at = 0; at < text.size(); at += 5) reader.feed(std::string_view(text).substr(at, 5));
    EXPECT_EQ(reader.finish().reading.values, read_document("x", "", text, format, {}).reading.values) << file.path();
  }
}

}  // namespace
}  // namespace verl::diagnosis
