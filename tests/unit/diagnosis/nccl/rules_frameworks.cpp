#include "tests/unit/diagnosis/nccl/rule_cases.h"

namespace verl::nccl {
namespace {

using diagnosis::NodeFacts;
using diagnosis::Policy;
using enum diagnosis::Severity;

void pod(NodeFacts& node, Policy&) { node.nccl.environments.front().kind = EnvironmentKind::PodSpec; }
void sglang_pod(NodeFacts& node, Policy& policy) {
  pod(node, policy);
  node.nccl.environments.front().origin = "container sglang";
}
void one_node(NodeFacts&, Policy& policy) { policy.multi_node = false; }

fabric::Interface& interface(NodeFacts& node, const std::string& name, const std::string& address) {
  fabric::Interface& one = node.fabric.interfaces.emplace_back();
  one.name = name;
  if (!address.empty()) one.addresses.push_back(address);
  return one;
}
void bond(NodeFacts& node, Policy&) {
  interface(node, "bond0", "198.51.100.7/24");
  interface(node, "ens9f0", "").master = "bond0";
}
void two_networks(NodeFacts& node, Policy&) {
  interface(node, "ens9f0", "198.51.100.7/24");
  interface(node, "ens9f1", "203.0.113.7/24");
}
void loopback_name(NodeFacts& node, Policy&) { node.nccl.hostname_address = "127.0.1.1"; }
void real_name(NodeFacts& node, Policy&) { node.nccl.hostname_address = "198.51.100.7"; }

void blackwell(NodeFacts& node, Policy&) { node.topology.gpus.emplace_back().name = "NVIDIA B200"; }
void hopper_megatron(NodeFacts& node, Policy&) {
  node.topology.gpus.emplace_back().name = "NVIDIA H100 80GB HBM3";
  node.nccl.environments.front().origin = "megatron actor";
}
void hopper_fsdp(NodeFacts& node, Policy&) {
  node.topology.gpus.emplace_back().name = "NVIDIA H100 80GB HBM3";
  node.nccl.environments.front().origin = "fsdp actor";
}

Environment& second(NodeFacts& node, const std::string& name, const std::string& value) {
  node.nccl.environments.front().kind = EnvironmentKind::Process;
  Environment& environment = node.nccl.environments.emplace_back();
  environment.kind = EnvironmentKind::Process;
  environment.settings.emplace_back().setting = {.name = name, .value = value};
  return environment;
}
void other_debug(NodeFacts& node, Policy&) {
  second(node, "NCCL_DEBUG", "WARN");
  node.nccl.environments.front().kind = EnvironmentKind::VerlJob;
}
void same_debug(NodeFacts& node, Policy&) {
  second(node, "NCCL_DEBUG", "INFO");
  node.nccl.environments.front().kind = EnvironmentKind::VerlJob;
}
void with_rollout(NodeFacts& node, Policy&) { second(node, "NCCL_CUMEM_ENABLE", "0").origin = "rollout"; }
void with_plain_process(NodeFacts& node, Policy&) { second(node, "NCCL_ALGO", "Tree"); }
void with_other_master(NodeFacts& node, Policy&) { second(node, "MASTER_ADDR", "198.51.100.9"); }

}  // namespace

std::vector<RuleCase> framework_cases() {
  return {
      {"NCCL501", Info, "environment", {{{"NCCL_DEBUG", "WARN"}}, pod}, {{{"NCCL_DEBUG", "WARN"}}}},
      {"NCCL502", Error, "NCCL_COMM_ID", {{{"NCCL_COMM_ID", "198.51.100.7:29500"}}}, {{{"NCCL_COMM_ID", ""}}}},
      {"NCCL503", Error, "TORCH_NCCL_DUMP_ON_TIMEOUT", {{{"TORCH_NCCL_DUMP_ON_TIMEOUT", "on"}}}, {{{"TORCH_NCCL_DUMP_ON_TIMEOUT", "Yes"}}}},
      {"NCCL504", Error, "TORCH_NCCL_TRACE_BUFFER_SIZE", {{{"TORCH_NCCL_TRACE_BUFFER_SIZE", "many"}}}, {{{"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000x"}}}},
      {"NCCL505", Error, "TORCH_NCCL_ASYNC_ERROR_HANDLING", {{{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"}}}, {{{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"}}}},
      {"NCCL505", Warning, "TORCH_NCCL_ASYNC_ERROR_HANDLING", {{{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "2"}}}, {{{"TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"}}}},
      {"NCCL506", Warning, "TORCH_NCCL_BLOCKING_WAIT", {{{"TORCH_NCCL_BLOCKING_WAIT", "1"}}}, {{{"TORCH_NCCL_BLOCKING_WAIT", "0"}}}},
      {"NCCL507", Warning, "TORCH_DISTRIBUTED_DEBUG", {{{"TORCH_DISTRIBUTED_DEBUG", "DETAIL"}}}, {{{"TORCH_DISTRIBUTED_DEBUG", "INFO"}}}},
      {"NCCL508", Info, "TORCH_NCCL_TRACE_BUFFER_SIZE", {{{"TORCH_NCCL_TRACE_BUFFER_SIZE", "0"}}}, {{{"TORCH_NCCL_TRACE_BUFFER_SIZE", "2000"}}}},
      {"NCCL508", Info, "TORCH_NCCL_DUMP_ON_TIMEOUT", {{{"TORCH_NCCL_DUMP_ON_TIMEOUT", "false"}}}, {{{"TORCH_NCCL_DUMP_ON_TIMEOUT", "true"}}}},
      {"NCCL509", Info, "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
       {{{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/tmp/trace_"}}}, {{{"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", "/dumps/trace_"}}}},
      {"NCCL510", Warning, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", {{{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "60"}}}, {{{"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", "480"}}}},
      {"NCCL511", Error, "GLOO_SOCKET_IFNAME", {{{"GLOO_SOCKET_IFNAME", "^lo"}}}, {{{"GLOO_SOCKET_IFNAME", "eth0,eth1"}}}},
      {"NCCL511", Error, "TP_SOCKET_IFNAME", {{{"TP_SOCKET_IFNAME", "198.51.100.0/24"}}}, {{{"TP_SOCKET_IFNAME", "bond0.2093"}}}},
      {"NCCL512", Error, "GLOO_SOCKET_IFNAME", {{{"GLOO_SOCKET_IFNAME", "ens9f0"}}, bond}, {{{"GLOO_SOCKET_IFNAME", "bond0"}}, bond}},
      {"NCCL512", Error, "GLOO_SOCKET_IFNAME", {{{"GLOO_SOCKET_IFNAME", "bond"}}, bond}, {{{"GLOO_SOCKET_IFNAME", "bond"}}}},
      {"NCCL513", Error, "GLOO_SOCKET_IFNAME", {{{"NCCL_DEBUG", "WARN"}}, loopback_name}, {{{"NCCL_DEBUG", "WARN"}}, real_name}},
      {"NCCL514", Warning, "GLOO_SOCKET_IFNAME",
       {{{"GLOO_SOCKET_IFNAME", "ens9f0"}, {"NCCL_SOCKET_IFNAME", "=ens9f1"}}, two_networks}, {{{"GLOO_SOCKET_IFNAME", "ens9f0"}, {"NCCL_SOCKET_IFNAME", "ens9"}}, two_networks}},
      {"NCCL514", Warning, "GLOO_SOCKET_IFNAME",
       {{{"GLOO_SOCKET_IFNAME", "eth0"}, {"NCCL_SOCKET_IFNAME", "ens9f1"}}}, {{{"GLOO_SOCKET_IFNAME", "eth0"}, {"NCCL_SOCKET_IFNAME", "^lo,docker"}}}},
      {"NCCL515", Error, "NCCL_COMM_BLOCKING", {{{"NCCL_COMM_BLOCKING", "0"}}}, {{{"NCCL_COMM_BLOCKING", "0"}, {"TORCH_NCCL_USE_COMM_NONBLOCKING", "1"}}}},
      {"NCCL516", Warning, "CUDA_DEVICE_MAX_CONNECTIONS", {{{"CUDA_DEVICE_MAX_CONNECTIONS", "1"}}, blackwell}, {{{"CUDA_DEVICE_MAX_CONNECTIONS", "8"}}, blackwell}},
      {"NCCL516", Warning, "CUDA_DEVICE_MAX_CONNECTIONS", {{{"CUDA_DEVICE_MAX_CONNECTIONS", "8"}}, hopper_megatron}, {{{"CUDA_DEVICE_MAX_CONNECTIONS", "8"}}, hopper_fsdp}},
      {"NCCL517", Warning, "NCCL_CUMEM_ENABLE", {{{"NCCL_CUMEM_ENABLE", "1"}}, with_rollout}, {{{"NCCL_CUMEM_ENABLE", "0"}}, with_rollout}},
      {"NCCL518", Error, "NCCL_ALGO", {{{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "Simple"}}, with_plain_process}, {{{"NCCL_ALGO", "Ring"}}, with_plain_process}},
      {"NCCL518", Info, "NCCL_ALGO", {{{"NCCL_ALGO", "Ring"}, {"NCCL_PROTO", "Simple"}}}, {{{"NCCL_ALGO", "Tree"}, {"NCCL_PROTO", "Simple"}}}},
      {"NCCL519", Info, "NCCL_DEBUG", {{{"NCCL_DEBUG", "INFO"}}, other_debug}, {{{"NCCL_DEBUG", "INFO"}}, same_debug}},
      {"NCCL520", Info, "NCCL_NVLS_ENABLE", {{{"NCCL_NVLS_ENABLE", "0"}}, sglang_pod}, {{{"NCCL_NVLS_ENABLE", "0"}}, pod}},
      {"NCCL522", Warning, "RAY_DEDUP_LOGS", {{{"NCCL_DEBUG", "INFO"}, {"RAY_DEDUP_LOGS", "1"}}}, {{{"NCCL_DEBUG", "INFO"}, {"RAY_DEDUP_LOGS", "0"}}}},
      {"NCCL523", Error, "MASTER_ADDR", {{{"MASTER_ADDR", "localhost"}}}, {{{"MASTER_ADDR", "localhost"}}, one_node}},
      {"NCCL523", Error, "MASTER_ADDR", {{{"MASTER_ADDR", "198.51.100.7"}}, with_other_master}, {{{"MASTER_ADDR", "198.51.100.9"}}, with_other_master}},
      {"NCCL524", Error, "OFI_NCCL_PROTOCOL", {{{"OFI_NCCL_PROTOCOL", "VERBS"}}}, {{{"OFI_NCCL_PROTOCOL", "RDMA"}}}},
      {"NCCL525", Warning, "OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK",
       {{{"OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK", "1"}}}, {{{"OFI_NCCL_DISABLE_GDR_REQUIRED_CHECK", "0"}}}},
  };
}

}  // namespace verl::nccl
