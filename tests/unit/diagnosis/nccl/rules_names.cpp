#include "tests/unit/diagnosis/nccl/rule_cases.h"

namespace verl::nccl {
namespace {

using diagnosis::NodeFacts;
using diagnosis::Policy;
using enum diagnosis::Severity;

void at_2_18(NodeFacts&, Policy& policy) { policy.nccl_version = "2.18.3"; }
void at_2_27(NodeFacts&, Policy& policy) { policy.nccl_version = "2.27.3"; }
void at_2_30(NodeFacts&, Policy& policy) { policy.nccl_version = "2.30.7"; }
void at_2_40(NodeFacts& node, Policy&) { node.nccl.loaded_version = "2.40.1"; }
void without_plugin(NodeFacts& node, Policy&) { node.nccl.host.networks = std::vector<std::string>{"IB", "Socket"}; }
void with_plugin(NodeFacts& node, Policy&) { node.nccl.host.networks = std::vector<std::string>{"AWS Libfabric"}; }

}  // namespace

std::vector<RuleCase> name_cases() {
  return {
      {"NCCL101", Error, "NCCL_SOCKET_IFNAMES", {{{"NCCL_SOCKET_IFNAMES", "eth0"}}}, {{{"NCCL_SOCKET_IFNAME", "eth0"}}}},
      {"NCCL101", Error, "nccl_debug", {{{"nccl_debug", "INFO"}}}, {{{"NCCL_DEBUG", "INFO"}}}},
      {"NCCL101", Info, "NCCL_IB_HCAX", {{{"NCCL_IB_HCAX", "1"}}, at_2_40}, {{{"NCCL_IB_HCA", "a"}}, at_2_40}},
      {"NCCL102", Warning, "NCCL_ACME_FAST_PATH", {{{"NCCL_ACME_FAST_PATH", "1"}}}, {{{"UCX_ACME_FAST_PATH", "1"}}}},
      {"NCCL102", Info, "NCCL_ACME_FAST_PATH", {{{"NCCL_ACME_FAST_PATH", "1"}}, at_2_40}, {{{"NCCL_IB_RAIL_POLICY", "x"}}, at_2_40}},
      {"NCCL103", Warning, "NCCL_BUFFER_SIZE", {{{"NCCL_BUFFER_SIZE", "1"}}}, {{{"NCCL_BUFFSIZE", "4194304"}}}},
      {"NCCL103", Info, "NCCL_DETERMINISTIC", {{{"NCCL_DETERMINISTIC", "1"}}}, {{{"NCCL_ALGO", "Ring"}}}},
      {"NCCL104", Warning, "NCCL_WORK_FIFO_DEPTH", {{{"NCCL_WORK_FIFO_DEPTH", "65536"}}, at_2_27}, {{{"NCCL_WORK_FIFO_DEPTH", "65536"}}, at_2_18}},
      {"NCCL105", Warning, "NCCL_IB_ADDR_RANGE", {{{"NCCL_IB_ADDR_RANGE", "198.51.100.0/24"}}, at_2_18}, {{{"NCCL_IB_ADDR_RANGE", "198.51.100.0/24"}}, at_2_27}},
      {"NCCL106", Info, "NCCL_MAX_NCHANNELS", {{{"NCCL_MAX_NCHANNELS", "32"}}}, {{{"NCCL_MAX_CTAS", "32"}}}},
      {"NCCL106", Warning, "NCCL_MAX_NCHANNELS", {{{"NCCL_MAX_NCHANNELS", "32"}, {"NCCL_MAX_CTAS", "16"}}}, {{{"NCCL_MAX_CTAS", "16"}}}},
      {"NCCL106", Info, "NCCL_P2P_LEVEL", {{{"NCCL_P2P_LEVEL", "3"}}}, {{{"NCCL_P2P_LEVEL", "PHB"}}}},
      {"NCCL107", Info, "NCCL_GRAPH_HELPER_DISABLE", {{{"NCCL_GRAPH_HELPER_DISABLE", "1"}}}, {{{"NCCL_GRAPH_REGISTER", "0"}}}},
      {"NCCL108", Error, "NCCL_OFI_PROTOCOL", {{{"NCCL_OFI_PROTOCOL", "RDMA"}}}, {{{"OFI_NCCL_PROTOCOL", "RDMA"}}}},
      {"NCCL109", Info, "OFI_NCCL_NIC_DUP_CONNS", {{{"OFI_NCCL_NIC_DUP_CONNS", "2"}}, without_plugin}, {{{"OFI_NCCL_NIC_DUP_CONNS", "2"}}, with_plugin}},
      {"NCCL110", Info, "NCCL_BLOCKING_WAIT", {{{"NCCL_BLOCKING_WAIT", "0"}}}, {{{"TORCH_NCCL_BLOCKING_WAIT", "0"}}}},
      {"NCCL110", Warning, "NCCL_BLOCKING_WAIT",
       {{{"NCCL_BLOCKING_WAIT", "1"}, {"TORCH_NCCL_BLOCKING_WAIT", "0"}}}, {{{"TORCH_NCCL_BLOCKING_WAIT", "0"}}}},
      {"NCCL111", Info, "NCCL version", {{{"NCCL_NET_MERGE_LEVEL", "LOC"}}}, {{{"NCCL_NET_MERGE_LEVEL", "LOC"}}, at_2_30}},
      {"NCCL112", Info, "NCCL_VERSION", {{{"NCCL_NET_MERGE_LEVEL", "LOC"}, {"NCCL_VERSION", "2.19.3-1"}}}, {{{"NCCL_VERSION", "2.19.3-1"}}}},
  };
}

}  // namespace verl::nccl
