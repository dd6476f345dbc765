#include "tests/unit/diagnosis/nccl/rule_cases.h"

namespace verl::nccl {
namespace {

using diagnosis::NodeFacts;
using diagnosis::Policy;
using enum diagnosis::Severity;

void on_aws(NodeFacts&, Policy& policy) { policy.platform = "aws"; }
void nvswitch(NodeFacts& node, Policy&) {
  node.topology.nvswitch = true;
  node.topology.gpus.emplace_back().name = "NVIDIA H200";
}
void pcie(NodeFacts& node, Policy&) {
  node.topology.nvswitch = false;
  node.topology.gpus.emplace_back().name = "NVIDIA L40S";
}
void rollout(NodeFacts& node, Policy&) { node.nccl.environments.front().origin = "container rollout"; }
void preflight(NodeFacts& node, Policy& policy) {
  node.nccl.environments.front().origin = "preflight";
  policy.nccl_version = "2.30.7";
}
void preflight_old(NodeFacts& node, Policy& policy) {
  node.nccl.environments.front().origin = "preflight";
  policy.nccl_version = "2.27.3";
}

}  // namespace

std::vector<RuleCase> hygiene_cases() {
  return {
      {"NCCL201", Warning, "NCCL_IB_QPS_PER_CONNECTION", {{{"NCCL_IB_QPS_PER_CONNECTION", "4"}}}, {{{"NCCL_IB_QPS_PER_CONNECTION", "1"}}}},
      {"NCCL201", Warning, "NCCL_P2P_NET_CHUNKSIZE", {{{"NCCL_P2P_NET_CHUNKSIZE", "524288"}}}, {{{"NCCL_P2P_NET_CHUNKSIZE", "524288"}}, on_aws}},
      {"NCCL201", Info, "NCCL_CUMEM_ENABLE", {{{"NCCL_CUMEM_ENABLE", "1"}}}, {{{"NCCL_IB_TC", "106"}}}},
      {"NCCL202", Warning, "NCCL_ALGO", {{{"NCCL_ALGO", "Ring"}}}, {{{"NCCL_ALGO", "Ring"}}, on_aws}},
      {"NCCL203", Error, "NCCL_PROTO", {{{"NCCL_PROTO", "^LL"}}}, {{{"NCCL_PROTO", "^LL,LL128"}}}},
      {"NCCL203", Error, "NCCL_PROTO", {{{"NCCL_PROTO", "LL128"}}}, {{{"NCCL_PROTO", "LL,Simple"}}}},
      {"NCCL204", Warning, "NCCL_DEBUG", {{{"NCCL_DEBUG", "INFO"}}}, {{{"NCCL_DEBUG", "WARN"}}}},
      {"NCCL204", Warning, "NCCL_DEBUG_SUBSYS", {{{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT,COLL"}}}, {{{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG_SUBSYS", "INIT,NET"}}}},
      {"NCCL205", Info, "NCCL_DEBUG", {{{"NCCL_IB_TC", "106"}}}, {{{"NCCL_IB_TC", "106"}, {"NCCL_DEBUG", "WARN"}}}},
      {"NCCL206", Error, "NCCL_DEBUG_FILE", {{{"NCCL_DEBUG_FILE", "/logs/nccl.txt"}}}, {{{"NCCL_DEBUG_FILE", "/logs/nccl.%h.%p"}}}},
      {"NCCL206", Warning, "NCCL_DEBUG_FILE", {{{"NCCL_DEBUG_FILE", "/lustre/nccl.%p"}}}, {{{"NCCL_DEBUG_FILE", "/logs/nccl.%p"}}}},
      {"NCCL207", Warning, "NCCL_MAX_CTAS", {{{"NCCL_MAX_CTAS", "4"}}, nvswitch}, {{{"NCCL_MAX_CTAS", "16"}}, nvswitch}},
      {"NCCL208", Warning, "NCCL_BUFFSIZE", {{{"NCCL_BUFFSIZE", "8"}}}, {{{"NCCL_BUFFSIZE", "65536"}}}},
      {"NCCL208", Warning, "NCCL_BUFFSIZE", {{{"NCCL_BUFFSIZE", "5000000"}}}, {{{"NCCL_BUFFSIZE", "8388608"}}}},
      {"NCCL209", Error, "NCCL_GDR_FLUSH_DISABLE", {{{"NCCL_GDR_FLUSH_DISABLE", "1"}}}, {{{"NCCL_GDR_FLUSH_DISABLE", "0"}}}},
      {"NCCL210", Warning, "NCCL_CHECK_POINTERS", {{{"NCCL_CHECK_POINTERS", "1"}}}, {{{"NCCL_CHECK_POINTERS", "0"}}}},
      {"NCCL210", Warning, "NCCL_CHECK_MODE", {{{"NCCL_CHECK_MODE", "DEBUG_LOCAL"}}}, {{{"NCCL_CHECK_MODE", "DEFAULT"}}}},
      {"NCCL211", Error, "NCCL_RAS_ADDR", {{{"NCCL_RAS_ADDR", "0.0.0.0:28028"}}}, {{{"NCCL_RAS_ADDR", "localhost:28029"}}}},
      {"NCCL212", Warning, "NCCL_IGNORE_DISABLED_P2P", {{{"NCCL_IGNORE_DISABLED_P2P", "1"}}}, {{{"NCCL_IGNORE_DISABLED_P2P", "0"}}}},
      {"NCCL213", Error, "CUDA_LAUNCH_BLOCKING", {{{"CUDA_LAUNCH_BLOCKING", "1"}}}, {{{"CUDA_LAUNCH_BLOCKING", "0"}}}},
      {"NCCL214", Warning, "NCCL_TOPO_DUMP_FILE", {{{"NCCL_TOPO_DUMP_FILE", "/logs/topo.xml"}}}, {{{"NCCL_TOPO_FILE", "/nccl/topo.xml"}}}},
      {"NCCL215", Warning, "NCCL_PXN_DISABLE", {{{"NCCL_PXN_DISABLE", "1"}}}, {{{"NCCL_PXN_DISABLE", "0"}}}},
      {"NCCL216", Warning, "NCCL_CUMEM_ENABLE", {{{"NCCL_CUMEM_ENABLE", "0"}}}, {{{"NCCL_CUMEM_ENABLE", "0"}}, rollout}},
      {"NCCL217", Warning, "NCCL_NVLS_ENABLE", {{{"NCCL_NVLS_ENABLE", "0"}}, nvswitch}, {{{"NCCL_NVLS_ENABLE", "0"}}, pcie}},
      {"NCCL218", Warning, "NCCL_SHM_DISABLE", {{{"NCCL_SHM_DISABLE", "1"}}}, {{{"NCCL_SHM_DISABLE", "0"}}}},
      {"NCCL219", Warning, "NCCL_IB_TIMEOUT", {{{"NCCL_IB_TIMEOUT", "24"}}}, {{{"NCCL_IB_TIMEOUT", "22"}}}},
      {"NCCL220", Warning, "NCCL_IB_RETURN_ASYNC_EVENTS", {{{"NCCL_IB_RETURN_ASYNC_EVENTS", "0"}}}, {{{"NCCL_IB_RETURN_ASYNC_EVENTS", "1"}}}},
      {"NCCL221", Info, "NCCL_IGNORE_NET_MISMATCH", {{{"NCCL_DEBUG", "WARN"}}, preflight}, {{{"NCCL_DEBUG", "WARN"}}, preflight_old}},
      {"NCCL222", Info, "NCCL_SOCKET_RCVBUF", {{{"NCCL_SOCKET_RCVBUF", "1048576"}}}, {{{"NCCL_SOCKET_RCVBUF", "-1"}}}},
  };
}

}  // namespace verl::nccl
