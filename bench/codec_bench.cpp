// Bytes of list text decoded a second: object by object as the reflector does it, frame and heads included, and as one list.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "bench/calibration.h"
#include "codec/decode.h"
#include "kube/protocol/list_page.h"
#include "kube/protocol/object_head.h"

namespace {

using namespace verl;

constexpr int kPage = 500;  // as the reflectors ask for

std::string metadata(int number, const std::string& name, const std::string& labels, const std::string& rest) {
  return fmt::format(R"("metadata":{{"name":"{}",{}"uid":"8c7f2a5e-3f55-4b1d-9a0e-{:012}","resourceVersion":"{}","generation":1,)"
                     R"("creationTimestamp":"2026-05-04T03:02:01Z","labels":{{{}}},"annotations":{{"verl.run/rendered-by":"0.1.0"}})",
                     name, rest, number, 100000 + number, labels);
}

// What the apiserver adds to every object: which writer owns which field. About half of a pod's text, none of it kept.
std::string managed_fields(int entries) {
  std::string fields;
  for (int i = 0; i < 20; ++i) fields += fmt::format(R"({}"k:{{\"name\":\"VERL_SETTING_{}\"}}":{{".":{{}},"f:name":{{}},"f:value":{{}}}})", i == 0 ? "" : ",", i);
  std::string text;
  for (int i = 0; i < entries; ++i) {
    text += fmt::format(R"({}{{"manager":"writer-{}","operation":"Update","apiVersion":"v1","time":"2026-05-04T03:02:0{}Z","fieldsType":"FieldsV1",)"
                        R"("fieldsV1":{{"f:spec":{{"f:containers":{{"k:{{\"name\":\"ray\"}}":{{"f:env":{{{}}}}}}}}}}}}})",
                        i == 0 ? "" : ",", i, i, fields);
  }
  return text;
}

std::string pod(int number) {
  std::string env;
  for (int i = 0; i < 24; ++i) env += fmt::format(R"({}{{"name":"VERL_SETTING_{}","value":"value-of-setting-{}"}})", i == 0 ? "" : ",", i, i);
  std::string volumes;
  for (int i = 0; i < 6; ++i) volumes += fmt::format(R"({}{{"name":"volume-{}","emptyDir":{{"medium":"Memory","sizeLimit":"64Gi"}}}})", i == 0 ? "" : ",", i);
  const std::string labels = fmt::format(R"("verl.run/job-name":"llama-ppo","verl.run/attempt":"1","verl.run/rank":"{}","verl.run/pool":"main")", number);
  return "{" + metadata(number, fmt::format("llama-ppo-1-{}", number), labels, R"("namespace":"rl",)") +
         R"(,"ownerReferences":[{"apiVersion":"verl.run/v1alpha1","kind":"VerlJob","name":"llama-ppo","uid":"0f1e2d3c","controller":true}],"managedFields":[)" +
         managed_fields(2) + "]}," +
         fmt::format(R"("spec":{{"nodeName":"gpu-{}","hostNetwork":true,"priority":0,"containers":[{{"name":"ray","image":"registry.example/verl:0.9.1","env":[{}],)"
                     R"("ports":[{{"name":"gcs","containerPort":20000,"hostPort":20000,"protocol":"TCP"}}],"resources":{{"requests":{{"cpu":"180","memory":"1600Gi",)"
                     R"("nvidia.com/gpu":"8"}},"limits":{{"cpu":"180","memory":"1600Gi","nvidia.com/gpu":"8"}}}}}}],"volumes":[{}]}},)",
                     number, env, volumes) +
         R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","reason":"","lastTransitionTime":"2026-05-04T03:03:01Z"},)"
         R"({"type":"PodScheduled","status":"True","lastTransitionTime":"2026-05-04T03:03:01Z"}],"containerStatuses":[{"name":"ray","ready":true,"started":true,)"
         R"("restartCount":0,"image":"registry.example/verl:0.9.1","state":{"running":{"startedAt":"2026-05-04T03:03:01Z"}}}]}})";
}

std::string node(int number) {
  std::string images;
  for (int i = 0; i < 30; ++i) images += fmt::format(R"({}{{"names":["registry.example/image-{}@sha256:{:064}"],"sizeBytes":{}}})", i == 0 ? "" : ",", i, i, 100000000 + i);
  const std::string labels = fmt::format(R"("kubernetes.io/hostname":"gpu-{}","verl.run/rack":"r{}","verl.run/block":"b{}","nvidia.com/gpu.present":"true")", number,
                                         number / 100, number / 1000);
  const char* amounts = R"({"cpu":"192","memory":"2000Gi","pods":"110","ephemeral-storage":"4Ti","nvidia.com/gpu":"8","rdma/hca":"8"})";
  return "{" + metadata(number, fmt::format("gpu-{}", number), labels, "") + R"(,"managedFields":[)" + managed_fields(1) + "]}," +
         R"("spec":{"taints":[{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]},)" +
         fmt::format(R"("status":{{"addresses":[{{"type":"InternalIP","address":"10.1.{}.{}"}}],"capacity":{},"allocatable":{},"images":[{}],)"
                     R"("conditions":[{{"type":"Ready","status":"True","reason":"KubeletReady","lastHeartbeatTime":"2026-05-04T03:03:01Z"}}],)"
                     R"("nodeInfo":{{"bootID":"{:08}-0000-4000-8000-000000000001","kernelVersion":"6.1.0","kubeletVersion":"v1.36.3"}}}}}})",
                     number / 250, number % 250, amounts, amounts, images, number);
}

std::string list_of(const std::string& kind, std::string (*one)(int)) {
  std::string text = fmt::format(R"({{"kind":"{}List","apiVersion":"v1","metadata":{{"resourceVersion":"4711"}},"items":[)", kind);
  for (int i = 0; i < kPage; ++i) text += (i == 0 ? "" : ",") + one(i);
  return text + "]}";
}

void spoiled(benchmark::State& state, const std::string& why) { state.SkipWithError(why.c_str()); }

template <class T>
void items_as_the_reflector(benchmark::State& state, const std::string& kind, std::string (*one)(int)) {
  std::string text = list_of(kind, one);
  const kube::Resource resource{.group = "", .version = "v1", .kind = kind};
  for (auto _ : state) {
    const auto page = kube::parse_list_page(text, resource);
    if (!page || page->items.size() != kPage) return spoiled(state, page ? "items are missing" : page.error().message);
    for (const auto item : page->items) {
      auto head = kube::parse_typed_head(item);
      auto value = codec::decode_object<T>(item);
      if (!head || !value || !value->unreadable.empty()) return spoiled(state, "an item is unreadable");
      benchmark::DoNotOptimize(*value);
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["bytes_per_object"] = static_cast<double>(text.size()) / kPage;
}

template <class T>
void whole_list(benchmark::State& state, const std::string& kind, std::string (*one)(int)) {
  const std::string text = list_of(kind, one);
  for (auto _ : state) {
    auto page = codec::decode_list<T>(text);
    if (!page || page->items.size() != kPage) return spoiled(state, page ? "items are missing" : page.error().message);
    benchmark::DoNotOptimize(*page);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["bytes_per_object"] = static_cast<double>(text.size()) / kPage;
}

void pods_as_the_reflector(benchmark::State& state) { items_as_the_reflector<api::Pod>(state, "Pod", pod); }
void nodes_as_the_reflector(benchmark::State& state) { items_as_the_reflector<api::Node>(state, "Node", node); }
void pods_as_a_list(benchmark::State& state) { whole_list<api::Pod>(state, "Pod", pod); }
void nodes_as_a_list(benchmark::State& state) { whole_list<api::Node>(state, "Node", node); }

BENCHMARK(pods_as_the_reflector)->Unit(benchmark::kMillisecond);
BENCHMARK(nodes_as_the_reflector)->Unit(benchmark::kMillisecond);
BENCHMARK(pods_as_a_list)->Unit(benchmark::kMillisecond);
BENCHMARK(nodes_as_a_list)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
