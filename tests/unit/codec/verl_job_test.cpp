#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/unknown_fields.h"
#include "yaml/yaml.h"

namespace verl::codec {
namespace {

api::VerlJob read(std::string_view json) {
  const auto job = decode_object<api::VerlJob>(json);
  EXPECT_TRUE(job) << job.error().message;
  return job ? *job : api::VerlJob{};
}

TEST(VerlJob, KeepsOverridesAsTheyAreWritten) {
  const auto job = read(R"({"spec":{"trainer":{"overrides":{
    "text":"grpo","empty":"","whole":1024,"big":18446744073709551615,"negative":-1,"small":1e-06,"half":0.5,"yes":true,"no":false,"none":null}}}})");
  EXPECT_EQ(job.spec.trainer.overrides,
            (std::map<std::string, std::string>{{"text", "grpo"}, {"empty", ""}, {"whole", "1024"}, {"big", "18446744073709551615"}, {"negative", "-1"},
                                                {"small", "1e-06"}, {"half", "0.5"}, {"yes", "true"}, {"no", "false"}, {"none", "null"}}));
  EXPECT_TRUE(job.unreadable.empty());
}

TEST(VerlJob, NamesOverridesThatAreNoScalars) {
  EXPECT_EQ(read(R"({"spec":{"trainer":{"overrides":{"trainer.logger":["console"],"a":{}}}}})").unreadable,
            (std::vector<std::string>{
                "spec.trainer.overrides[trainer.logger]: must be a string, number, true, false or null; write lists and mappings as one quoted string",
                "spec.trainer.overrides[a]: must be a string, number, true, false or null; write lists and mappings as one quoted string"}));
}

TEST(VerlJob, KeepsATemplateAsCanonicalText) {
  const auto one = read(R"({"spec":{"pools":[{"name":"a","template":{"spec": {"b":1, "a":[1.5, "ü/<>"]}, "metadata": {}}}]}})");
  const auto other = read(R"({"spec":{"pools":[{"template":{"metadata":{},"spec":{"a":[1.5,"\u00fc\/<>"],"b":1}},"name":"a"}]}})");
  ASSERT_EQ(one.spec.pools.size(), 1U);
  EXPECT_EQ(one.spec.pools[0].template_json, R"({"metadata":{},"spec":{"a":[1.5,"ü/<>"],"b":1}})");
  EXPECT_EQ(one.spec, other.spec);
  EXPECT_EQ(read(R"({"spec":{"pools":[{"name":"a"}]}})").spec.pools[0].template_json, "{}");
}

TEST(VerlJob, NamesEveryFieldItCannotRead) {
  EXPECT_EQ(read(R"({"metadata":{"name":"a"}})").unreadable, (std::vector<std::string>{"spec: is missing"}));
  EXPECT_EQ(read(R"({"spec":{"suspend":"no","pools":[{"nodes":"4","gpusPerNode":4294967296,"topology":{"mode":"Soft"},"template":[]},5],
      "deadlines":{"bindSeconds":1.5,"queuedSeconds":"x"},"network":{"transport":"Pigeon","mtu":99999999999999999999},"ray":{"authentication":true},"nccl":{"env":{"A":1}}},
      "status":{"placement":{"ranks":[{"rank":"0"}]},"finishedAt":"soon"}})")
                .unreadable,
            (std::vector<std::string>{
                "spec.suspend: must be true or false, is \"no\"",
                "spec.pools[0].nodes: must be a whole number, is \"4\"",
                "spec.pools[0].gpusPerNode: 4294967296 is outside -2147483648 to 2147483647",
                "spec.pools[0].topology.mode: must be one of Required Preferred, is \"Soft\"",
                "spec.pools[0].template: must be an object, is a list",
                "spec.pools[1]: must be an object, is 5",
                "spec.deadlines.bindSeconds: must be a whole number, is 1.5",
                "spec.deadlines.queuedSeconds: must be a whole number, is \"x\"",
                "spec.network.transport: must be one of Any RoCE InfiniBand TCP, is \"Pigeon\"",
                "spec.network.mtu: must be a whole number, is 1e+20",
                "spec.ray.authentication: must be one of Token Disabled, is true",
                "spec.nccl.env[A]: must be a string, is 1",
                "status.placement.ranks[0].rank: must be a whole number, is \"0\"",
                "status.finishedAt: \"soon\" is no RFC 3339 time",
            }));
}

TEST(VerlJob, TakesNoDurationThatOverflowsInMicroseconds) {
  const auto job = read(R"({"spec":{"deadlines":{"bindSeconds":9223372036854775807,"queuedSeconds":-1,"runningSeconds":315360000},
    "ttlSecondsAfterFinished":315360001}})");
  EXPECT_EQ(job.unreadable, (std::vector<std::string>{"spec.deadlines.bindSeconds: 9223372036854775807 is outside 0 to 315360000",
                                                      "spec.deadlines.queuedSeconds: -1 is outside 0 to 315360000",
                                                      "spec.ttlSecondsAfterFinished: 315360001 is outside 0 to 315360000"}));
  EXPECT_EQ(job.spec.deadlines, (api::Deadlines{.running = Seconds(315360000)}));
  EXPECT_EQ(job.spec.ttl_after_finished, std::nullopt);
  const auto lease = decode_object<api::Heartbeat>(R"({"spec":{"leaseDurationSeconds":9223372036854775807}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->duration, Seconds(0));
}

TEST(VerlJob, StatusBodyNamesTheObjectItIsFor) {
  api::Meta meta{.name_space = "rl", .name = "j", .uid = "u"};
  meta.labels = {{"not", "ours"}};
  api::VerlJobStatus status{};
  status.phase = "Queued";
  const auto body = nlohmann::json::parse(encode_status(meta, status));
  EXPECT_EQ(body, nlohmann::json::parse(R"({"apiVersion":"verl.run/v1alpha1","kind":"VerlJob","metadata":{"name":"j","namespace":"rl","uid":"u"},
    "status":{"phase":"Queued","observedGeneration":0,"nodes":0,"gpus":0,"attempts":{"started":0,"infrastructureRestarts":0,"userRestarts":0}}})"));
}

TEST(VerlJob, OfTheLargestGangStaysFarBelowWhatEtcdTakes) {
  api::VerlJobStatus status{};
  status.placement.emplace();
  for (std::int32_t rank = 0; rank < 1024; ++rank) {
    status.placement->ranks.push_back({.rank = rank, .pool = std::string(32, 'p'), .node = std::string(253, 'n'), .node_uid = std::string(36, 'u'),
                                       .boot_id = std::string(36, 'b'), .address = "255.255.255.255"});
  }
  const std::string body = encode_status({.name_space = "rl", .name = "j"}, status);
  EXPECT_LT(body.size(), 512U * 1024U);
  EXPECT_EQ(read(body).status, status);
}

TEST(VerlJob, FieldsThatNobodyKnowsAreNamed) {
  const auto unknown = unknown_fields<api::VerlJob>(R"({"apiVersion":"verl.run/v1alpha1","kind":"VerlJob","metadata":{"name":"a","anything":1},
    "spec":{"image":"i","head":{"dedicated":true},"nothing":null,"trainer":{"modul":"x","overrides":{"a.b":1}},"nccl":{"env":{}},"recovery":{},
      "pools":[{"name":"a","template":{"spec":{"hostPID":true}}},{"name":"b","gpuPerNode":8}]}})");
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_EQ(*unknown, (std::vector<std::string>{"spec.head.dedicated", "spec.pools[1].gpuPerNode", "spec.trainer.modul"}));
  EXPECT_TRUE(unknown_fields<api::VerlJob>(R"({"spec":{"image":"i"}})")->empty());
  EXPECT_FALSE(unknown_fields<api::VerlJob>("nope"));
  EXPECT_EQ(*unknown_fields<api::ReadinessPolicy>(R"({"spec":{"priority":1,"prio":2,"expectations":{"inventory":{"gpu":8}}}})"),
            (std::vector<std::string>{"spec.expectations.inventory.gpu", "spec.prio"}));
}

// The defaults stand in the schema, for kubectl explain, and in the structs, for plans over files that no apiserver
// has seen: they must be the same.
void apply_defaults(const nlohmann::json& schema, nlohmann::json& value) {
  if (!schema.contains("properties")) return;
  for (const auto& item : schema["properties"].items()) {
    if (!value.contains(item.key()) && item.value().contains("default")) value[item.key()] = item.value()["default"];
    if (!value.contains(item.key())) continue;
    nlohmann::json& inner = value[item.key()];
    if (inner.is_object()) apply_defaults(item.value(), inner);
    if (inner.is_array() && item.value().contains("items")) {
      for (auto& one : inner) apply_defaults(item.value()["items"], one);
    }
  }
}

nlohmann::json schema_of(const std::string& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  const auto documents = yaml_documents_to_json(text.str());
  EXPECT_TRUE(documents) << documents.error().message;
  if (!documents || documents->size() != 1) return {};
  return nlohmann::json::parse(documents->front())["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
}

TEST(VerlJob, HasTheDefaultsOfItsSchema) {
  const auto schema = schema_of("crds/verljobs.yaml");
  auto given = nlohmann::json::parse(R"({"spec":{"image":"i","topology":{"level":"rack"},"pools":[{"name":"a","topology":{"level":"rack"}}]}})");
  auto defaulted = given;
  apply_defaults(schema, defaulted);
  ASSERT_NE(given, defaulted);
  EXPECT_EQ(read(given.dump()), read(defaulted.dump()));
}

TEST(ReadinessPolicy, HasTheDefaultsOfItsSchema) {
  const auto schema = schema_of("crds/readinesspolicies.yaml");
  const auto given = nlohmann::json::parse(R"({"spec":{"expectations":{}}})");
  auto defaulted = given;
  apply_defaults(schema, defaulted);
  ASSERT_NE(given, defaulted);
  EXPECT_EQ(*decode_object<api::ReadinessPolicy>(given.dump()), *decode_object<api::ReadinessPolicy>(defaulted.dump()));
}

}  // namespace
}  // namespace verl::codec
