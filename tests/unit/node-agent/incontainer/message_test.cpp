#include "node-agent/incontainer/message.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace verl::incontainer {
namespace {

TEST(TerminationMessage, IsOneJsonObject) {
  EXPECT_EQ(termination_message("ContainerUnfit", {"a has 1, wants 2", "b"}), "{\"verl.run/ray\":\"ContainerUnfit\",\"message\":\"a has 1, wants 2. b\"}\n");
  EXPECT_EQ(termination_message("ContainerUnfit", {}), "{\"verl.run/ray\":\"ContainerUnfit\",\"message\":\"\"}\n");
}

TEST(TerminationMessage, SurvivesWhateverAPathHolds) {
  std::string every;
  for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
  const auto document = nlohmann::json::parse(termination_message("ContainerUnfit", {every}));
  std::string wanted;
  for (int c = 0; c < 256; ++c) wanted += c >= ' ' && c <= '~' ? static_cast<char>(c) : '?';
  EXPECT_EQ(document["message"], wanted);
}

TEST(TerminationMessage, IsBoundedAndCountsWhatDoesNotFit) {
  for (const char* piece : {"x", "\"", "\\", "\n"}) {
    std::string longer;
    for (int i = 0; i < 5000; ++i) longer += piece;
    for (size_t many = 1; many <= 64; ++many) {
      const std::string text = termination_message("ContainerUnfit", std::vector<std::string>(many, longer));
      EXPECT_LT(text.size(), 3500U);
      EXPECT_TRUE(nlohmann::json::accept(text)) << text;
    }
  }
  const std::string text = termination_message("ContainerUnfit", std::vector<std::string>(20, std::string(300, 'x')));
  EXPECT_NE(text.find("xxx. And 10 more\"}"), std::string::npos) << text;
}

}  // namespace
}  // namespace verl::incontainer
