#include "operator/snapshot/config.h"

#include <gtest/gtest.h>

namespace verl::snapshot {
namespace {

TEST(Config, ReadsWhatTheChartWrites) {
  const auto file = parse_config(
      "levels: [{name: block, key: topology.example.com/block}, {name: rack, key: rack}]\ngpuResource: nvidia.com/gpu\n"
      "ports: {first: 20000, last: 20999}\nheartbeat: {idleSeconds: 40, busySeconds: 5}\npresets: [/etc/a.yaml]\ndocsUrl: https://docs\n");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  OperatorFile wanted{};
  wanted.config.levels = {{.name = "block", .key = "topology.example.com/block"}, {.name = "rack", .key = "rack"}};
  wanted.config.gpu_resource = "nvidia.com/gpu";
  wanted.config.port_first = 20000;
  wanted.config.port_last = 20999;
  wanted.config.renewal_idle = Seconds{40};
  wanted.config.renewal_busy = Seconds{5};
  wanted.presets = {"/etc/a.yaml"};
  wanted.docs_url = "https://docs";
  EXPECT_EQ(*file, wanted);
  EXPECT_TRUE(parse_config("{}").has_value());
  for (const char* empty : {"", "\n", "# nothing\n", "null", "---\n"}) {
    const auto none = parse_config(empty);
    ASSERT_FALSE(none.has_value()) << empty;
    EXPECT_NE(none.error().message.find("is empty, wants a map with levels"), std::string::npos) << none.error().message;
  }
}

TEST(Config, EveryMistakeIsNamedByItsField) {
  const std::string long_name(33, 'a');
  const std::string long_key = std::string(64, 'k');
  const std::pair<std::string, std::string> cases[] = {
      {"levels: [{name: " + long_name + ", key: k}]", "levels[0].name: " + long_name + " is no name of a level"},
      {"levels: [{name: Rack, key: k}]", "levels[0].name: Rack is no name of a level"},
      {"levels: [{name: top of rack, key: k}]", "levels[0].name: top of rack is no name of a level"},
      {"levels: [{name: 1st, key: k}]", "levels[0].name: 1st is no name of a level"},
      {"levels: [{name: rack, key: a b}]", "levels[0].key: a b is no key of a Node's label"},
      {"levels: [{name: rack, key: a/b/c}]", "levels[0].key: a/b/c is no key of a Node's label"},
      {"levels: [{name: rack, key: /b}]", "levels[0].key: /b is no key of a Node's label"},
      {"levels: [{name: rack, key: " + long_key + "}]", "levels[0].key: " + long_key + " is no key of a Node's label"},
      {"levels: [{name: rack}]", "levels[0]: needs name and key"},
      {"levels: [{name: rack, key: a}, {name: rack, key: b}]", "levels[1].name: appears twice"},
      {"levels: rack", "levels: must be a list"},
      {"levels: [{name: rack, key: [a]}]", "levels[0].key: must be text"},
      {"level: []", "level: unknown key"},
      {"ports: {first: 80}", "ports.first: must be a whole number from 1024 to 32767"},
      {"ports: {first: 20000, last: 20014}", "ports: no block of 16 fits"},
      {"heartbeat: {idleSeconds: 0}", "heartbeat.idleSeconds: must be a whole number from 1 to 3600"},
      {"presets: a.yaml", "presets: must be a list of files"},
      {"a: [1", "configuration is no YAML"},
      {"[]", "configuration: must be a map"},
  };
  for (const auto& [text, part] : cases) {
    const auto file = parse_config(text);
    ASSERT_FALSE(file.has_value()) << text;
    EXPECT_NE(file.error().message.find(part), std::string::npos) << file.error().message;
  }
}

TEST(Config, TheLongestNamesThatTheCrdsTakeAreTaken) {
  const std::string prefix = std::string(63, 'p') + "." + std::string(63, 'q');
  EXPECT_TRUE(parse_config("levels: [{name: " + std::string(32, 'a') + ", key: " + prefix + "/" + std::string(63, 'k') + "}]").has_value());
}

TEST(Config, AFileOfMegabytesIsRefused) {
  const auto file = parse_config(std::string((1 << 20) + 1, '#'));
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace verl::snapshot
