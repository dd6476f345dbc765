#include "yaml/yaml.h"

#include <gtest/gtest.h>

namespace verl::codec {
namespace {

struct Meaning {
  const char* yaml;
  const char* json;
};

// What kubectl 1.35 makes of the same text.
TEST(Yaml, MeansWhatItMeansToKubectl) {
  const Meaning table[] = {
      {"a: 1\n", R"({"a":1})"},
      {"a: '1'\nb: \"yes\"\nc: !!str 7\n", R"({"a":"1","b":"yes","c":"7"})"},
      {"a: yes\nb: off\nc: y\nd: True\ne: nOt\n", R"({"a":true,"b":false,"c":true,"d":true,"e":"nOt"})"},
      {"a: ~\nb:\nc: null\nd: ''\n", R"({"a":null,"b":null,"c":null,"d":""})"},
      {"a: 0x10\nb: 010\nc: 0b11\nd: 1_000\ne: 0o17\nf: 08\ng: 1:30\n", R"({"a":16,"b":8,"c":3,"d":1000,"e":15,"f":8,"g":"1:30"})"},
      {"a: 1e-6\nb: 8.0\nc: .5\nd: 1.e1\ne: -0.25\nf: 1e\n", R"({"a":1e-06,"b":8,"c":0.5,"d":10,"e":-0.25,"f":"1e"})"},
      {"a: -9223372036854775808\nb: 18446744073709551615\nc: _1\nd: 1__0\ne: -0x10\nf: 00\n", R"({"a":-9223372036854775808,"b":1.8446744073709552e+19,"c":"_1","d":10,"e":-16,"f":0})"},
      {"a: 2026-11-30\nb: 0.9.1\nc: 500m\nd: 10.0.0.1\n", R"({"a":"2026-11-30","b":"0.9.1","c":"500m","d":"10.0.0.1"})"},
      {"n: 1\n2: x\n", R"({"2":"x","false":1})"},
      {"- a\n- [b, {c: d}]\n", R"(["a",["b",{"c":"d"}]])"},
      {"a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\ne: {<<: [*x, {b: 3, f: 4}], g: 5}\nf: {b: 9, <<: *x}\n",
       R"({"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2},"e":{"b":1,"f":4,"g":5},"f":{"b":9}})"},
      {"a: |\n  x\n  y\nb: >-\n  p\n  q\n", R"({"a":"x\ny\n","b":"p q"})"},
      {R"({"a": [1, "b", null]})", R"({"a":[1,"b",null]})"},
  };
  for (const Meaning& row : table) {
    const auto documents = yaml_documents_to_json(row.yaml);
    ASSERT_TRUE(documents) << row.yaml << documents.error().message;
    EXPECT_EQ(*documents, (std::vector<std::string>{row.json})) << row.yaml;
  }
}

TEST(Yaml, HoldsSeveralDocuments) {
  const auto documents = yaml_documents_to_json("# only a comment\n---\na: 1\n---\n---\nb: 2\n...\n");
  ASSERT_TRUE(documents) << documents.error().message;
  EXPECT_EQ(*documents, (std::vector<std::string>{R"({"a":1})", R"({"b":2})"}));
  EXPECT_TRUE(yaml_documents_to_json("")->empty());
}

TEST(Yaml, SaysWhereItIsWrong) {
  const Meaning table[] = {
      {"a: 1\nb: 2\na: 3\n", "YAML: line 3, column 1: key \"a\" stands twice in one mapping"},
      {"a: {x: 1, 'x': 2}\n", "YAML: line 1, column 11: key \"x\" stands twice in one mapping"},
      {"a: .inf\n", "YAML: line 1, column 4: .inf cannot be written as JSON"},
      {"a: !!binary aGk=\n", "YAML: line 1, column 4: binary values cannot be written as JSON; give the text itself"},
      {"a: !Ref x\n", "YAML: line 1, column 4: tag !Ref means nothing here"},
      {"? [a, b]\n: 1\n", "YAML: line 1, column 3: a mapping or list cannot be a key"},
      {"a: {<<: 1}\n", "YAML: line 1, column 9: << merges a mapping or a list of mappings"},
      {"a: *nowhere\n", "YAML: yaml-cpp: error at line 1, column 4: the referenced anchor is not defined"},
  };
  for (const Meaning& row : table) {
    const auto documents = yaml_documents_to_json(row.yaml);
    ASSERT_FALSE(documents) << row.yaml;
    EXPECT_EQ(documents.error().message, row.json);
  }
}

TEST(Yaml, StopsAtItsLimits) {
  EXPECT_EQ(yaml_documents_to_json(std::string(5 * 1024 * 1024, ' ')).error().code, ErrorCode::TooLarge);
  const std::string deep = std::string(70, '[') + std::string(70, ']');
  EXPECT_EQ(yaml_documents_to_json(deep).error().message, "YAML: line 1, column 65: more than 64 levels");
  EXPECT_FALSE(yaml_documents_to_json(std::string(100'000, '[')));
  // Ten levels of ten aliases each would be ten thousand million values.
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) bomb += ", " + before;
    bomb += "]\n";
  }
  const auto documents = yaml_documents_to_json(bomb);
  ASSERT_FALSE(documents);
  EXPECT_NE(documents.error().message.find("more than 200000 values"), std::string::npos) << documents.error().message;
}

}  // namespace
}  // namespace verl::codec
