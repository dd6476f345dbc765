// Every report fits docs/schemas/report-v1.json.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/render.h"
#include "sample.h"
#include "tests/unit/report/validator.h"

namespace verl::report {
namespace {

using nlohmann::json;

Validator published() {
  return published_schema("report-v1.json");
}

json document(const std::string& text) { return json::parse(text); }

TEST(Schema, FitsEveryReport) {
  EXPECT_EQ(published().check(document(render(build(sample()), Format::Json, {}))), std::vector<std::string>{});
  EXPECT_EQ(published().check(document(render(build({}), Format::Json, {}))), std::vector<std::string>{});
  EXPECT_EQ(published().check(document(render_node(sample().nodes[1], "https://docs.example", Format::Json, {}, R"({"clock":{}})"))), std::vector<std::string>{});
}

TEST(Schema, FitsNothingElse) {
  const json good = document(render(build(sample()), Format::Json, {}));
  for (const char* name : {"schemaVersion", "kind", "ready", "counts", "nodes", "sections", "largestReadySet"}) {
    json without = good;
    without.erase(name);
    EXPECT_FALSE(published().check(without).empty()) << name;
  }
  json wrong = good;
  wrong["nodes"][0]["verdict"] = "Perhaps";
  EXPECT_FALSE(published().check(wrong).empty());
  wrong = good;
  wrong["schemaVersion"] = 2;
  EXPECT_FALSE(published().check(wrong).empty());
  wrong = good;
  wrong["surprise"] = true;
  EXPECT_FALSE(published().check(wrong).empty());
}

}  // namespace
}  // namespace verl::report
