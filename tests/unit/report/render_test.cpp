#include "report/render.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sample.h"

namespace verl::report {
namespace {

bool only_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); });
}

TEST(Render, PrintsTheTableOfTheGolden) {
  const std::string text = render(build(sample()), Format::Table, {});
  EXPECT_EQ(text, golden("report.txt", text));
}

TEST(Render, PrintsAsciiAlone) {
  const std::string text = render(build(sample()), Format::Table, {.ascii = true});
  EXPECT_EQ(text, golden("report-ascii.txt", text));
  EXPECT_TRUE(only_ascii(text));
}

TEST(Render, ShowsEverythingWhenAsked) {
  const std::string text = render(build(sample()), Format::Table, {.all = true});
  EXPECT_EQ(text, golden("report-all.txt", text));
}

TEST(Render, PrintsTheJsonOfTheGolden) {
  const std::string text = render(build(sample()), Format::Json, {});
  EXPECT_EQ(text, golden("report.json", text));
}

// Numbers and words alike, since quoted text must stay text.
nlohmann::json json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    auto out = nlohmann::json::object();
    for (const auto& entry : node) out[entry.first.Scalar()] = json_of(entry.second);
    return out;
  }
  if (node.IsSequence()) {
    auto out = nlohmann::json::array();
    for (const auto& item : node) out.push_back(json_of(item));
    return out;
  }
  if (node.Tag() == "!") return node.Scalar();
  return nlohmann::json::parse(node.Scalar());
}

TEST(Render, SaysTheSameInYamlAsInJson) {
  const std::string yaml = render(build(sample()), Format::Yaml, {});
  EXPECT_EQ(yaml, golden("report.yaml", yaml));
  EXPECT_EQ(json_of(YAML::Load(yaml)), nlohmann::json::parse(render(build(sample()), Format::Json, {})));
}

TEST(Render, ColoursMarksAndNothingElse) {
  std::string coloured = render(build(sample()), Format::Table, {.colour = true});
  ASSERT_NE(coloured.find("\033[31m×\033[0m"), std::string::npos);
  for (const std::string code : {"\033[31m", "\033[32m", "\033[33m", "\033[35m", "\033[0m"}) {
    for (size_t at = coloured.find(code); at != std::string::npos; at = coloured.find(code)) coloured.erase(at, code.size());
  }
  EXPECT_EQ(coloured, render(build(sample()), Format::Table, {}));
}

TEST(Render, SaysNoOfAClusterWithoutNodes) {
  const std::string text = render(build({.levels = {"rack"}}), Format::Table, {});
  EXPECT_EQ(text, golden("empty.txt", text));
}

TEST(Render, KeepsHostileTextFromTheTerminalInEveryFormat) {
  ReportInput input{.source = "a\u202e\x7f", .levels = {"ra\nck"}, .docs_url = "http://x\x1b"};
  NodeLine node = ready_node("n\xff\x1b]0;title\x07", "b\u200f", "\xc2\x9b");
  node.findings.push_back(finding(Verdict::Fail, "evil\n\x1b", "su\rbject", "se\x01en", "wan\x02ted", "rm\x03 -rf"));
  input.nodes = {node};
  input.cluster = {{.verdict = Verdict::Fail, .id = "\x1b", .title = "t\x1b", .details = {"d\x1b"}, .remedy = "r\x1b"}};
  for (const Format format : {Format::Table, Format::Json, Format::Yaml}) {
    const std::string text = render(build(input), format, {});
    const auto control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F; };
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), control));
    for (const std::string hidden : {"\u202e", "\u200f", "\xc2\x9b"}) EXPECT_EQ(text.find(hidden), std::string::npos);
  }
}

TEST(Render, NamesEightNodesAndCountsTheRest) {
  ReportInput input{};
  for (int i = 10; i < 40; ++i) {
    NodeLine node = ready_node("n" + std::to_string(i), "", "");
    node.word = Word::NotReady;
    node.reason = "ClockSync";
    node.findings = {finding(Verdict::Fail, "clock-sync", "chronyd", "not synchronised")};
    input.nodes.push_back(node);
  }
  const std::string text = render(build(input), Format::Table, {});
  EXPECT_NE(text.find("    n10, n11, n12, n13, n14, n15, n16, n17 and 22 more: chronyd not synchronised"), std::string::npos) << text;
  EXPECT_NE(text.find("  and 11 more that are not ready; -v shows all\n"), std::string::npos) << text;
}

TEST(RenderNode, PrintsTheTableOfTheGolden) {
  NodeLine node = sample().nodes[1];
  node.findings.push_back(finding(Verdict::Skipped, "gpu-count", "", "8", "", ""));
  const std::string text = render_node(node, "https://docs.example/verl", Format::Table, {});
  EXPECT_EQ(text, golden("node.txt", text));
}

TEST(RenderNode, CarriesWhatWasObserved) {
  const std::string text = render_node(sample().nodes[1], "", Format::Json, {}, R"({"clock":{"source":"chronyd"}})");
  EXPECT_EQ(text, golden("node.json", text));
}

TEST(RenderNode, DoesNotCallAnEmptyReportReady) {
  EXPECT_EQ(render_node(NodeLine{.name = "a"}, "", Format::Table, {.ascii = true}), "?? nothing was judged\n\nReady: no. 0 errors, 0 warnings, 1 unknown.\n");
}

}  // namespace
}  // namespace verl::report
