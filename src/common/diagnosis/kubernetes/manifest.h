// One Kubernetes object while it is read: its JSON, where lines are found, and what is added to the reading. For .cpp files of this
// folder only.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/format.h"

namespace verl::diagnosis::manifest {

using Json = nlohmann::json;

// Never throws: another kind, or nothing, gives the empty value.
const Json& at(const Json& object, std::string_view key);
std::string text_at(const Json& object, std::string_view key);
std::int64_t number_at(const Json& object, std::string_view key, std::int64_t otherwise);
const Json& path(const Json& object, std::initializer_list<std::string_view> keys);
std::int64_t quantity(const Json& value);  // 0 when it is none

// Where a word first stands at or after the last word that was looked for: good enough as evidence, never a decision.
class Lines final {
 public:
  Lines(std::string_view text, std::string source);
  Evidence of(std::string_view word);

 private:
  std::string_view text_;
  std::string source_;
  std::vector<std::size_t> starts_{};
  std::size_t cursor_{0};
  int lookups_{0};
};

struct Object {
  const Json& json;
  std::string kind{};
  std::string name{};     // or generateName
  std::string title{};    // "RayCluster rl/demo"
  std::string value_path{};  // "objects[0]."
};

struct Context {
  Reading& reading;
  Lines& lines;
  const ReadOptions& options;
};

void add(Context& context, Finding finding, std::string_view word);
void put(Context& context, const Object& object, std::string name, Scalar value, std::string unit = {});

struct PodShape {
  std::int64_t gpus{0};   // whole GPUs that its containers ask for
  std::int64_t rdma{0};   // amounts of RDMA resources
  std::string image{};    // of its first container
  bool tls{false};        // Ray's TLS is on
};

// Rules of one pod template; `nodes` is how many such pods there are. `origin`: "worker group small".
PodShape read_pod_spec(Context& context, const Object& object, const Json& spec, const std::string& origin, bool several_nodes);

bool is_gpu(std::string_view resource);
bool is_rdma(std::string_view resource, const Policy& policy);

void read_pod(Context& context, const Object& object);
void read_ray(Context& context, const Object& object);
void read_verl_job(Context& context, const Object& object);
void read_node(Context& context, const Object& object);
void read_node_readiness(Context& context, const Object& object);
void read_status(Context& context, const Object& object);

// The rules that labels of GPU feature discovery alone decide; also for `gfd-labels`.
void judge_gpu_labels(Reading& reading, const std::vector<std::pair<std::string, std::string>>& labels, const std::string& node, const std::string& value_path);

}  // namespace verl::diagnosis::manifest
