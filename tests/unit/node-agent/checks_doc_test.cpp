// docs/checks.md has a section for every check and none for anything else.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "api/check_catalogue.h"

namespace verl::api {
namespace {

TEST(ChecksDoc, HasOneSectionForEveryCheckAndNoOther) {
  std::ifstream file("docs/checks.md");
  ASSERT_TRUE(file) << "run from the source root";
  std::set<std::string> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("## ", 0) != 0) continue;
    EXPECT_TRUE(sections.insert(line.substr(3)).second) << line;
  }
  std::set<std::string> ids;
  for (const CheckEntry& check : kChecks) ids.insert(std::string(check.id));
  EXPECT_EQ(sections, ids);
}

}  // namespace
}  // namespace verl::api
