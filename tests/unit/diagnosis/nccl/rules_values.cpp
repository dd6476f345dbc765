#include "tests/unit/diagnosis/nccl/rule_cases.h"

namespace verl::nccl {
namespace {

using diagnosis::NodeFacts;
using diagnosis::Policy;
using enum diagnosis::Severity;

void at_2_21(NodeFacts&, Policy& policy) { policy.nccl_version = "2.21.5"; }
void at_2_27(NodeFacts&, Policy& policy) { policy.nccl_version = "2.27.3"; }
void at_2_30(NodeFacts&, Policy& policy) { policy.nccl_version = "2.30.7"; }
void in_conf(NodeFacts& node, Policy&) { node.nccl.environments.front().kind = EnvironmentKind::Conf; }
void in_conf_2_25(NodeFacts& node, Policy& policy) {
  in_conf(node, policy);
  policy.nccl_version = "2.25.1";
  node.nccl.environments.front().comment.setting.name = "# X";
  node.nccl.environments.front().comment.line = 3;
}
void in_conf_2_30(NodeFacts& node, Policy& policy) {
  in_conf(node, policy);
  policy.nccl_version = "2.30.7";
}

void devices(NodeFacts& node, Policy&) {
  for (const char* name : {"mlx5_1", "mlx5_10"}) node.fabric.ports.emplace_back().device = name;
}
void lossless_26(NodeFacts& node, Policy&) { node.nccl.host.lossless_dscp = 26; }
void no_file(NodeFacts& node, Policy&) { node.nccl.host.files["/nccl/job.conf"].present = false; }
void with_file(NodeFacts& node, Policy&) { node.nccl.host.files["/nccl/job.conf"].present = true; }

std::string list_of(int entries) {
  std::string text = "=d0";
  for (int i = 1; i < entries; ++i) text += ",d" + std::to_string(i);
  return text;
}

}  // namespace

std::vector<RuleCase> value_cases() {
  return {
      {"NCCL001", Error, "NCCL_IB_GID_INDEX", {{{"NCCL_IB_GID_INDEX", "3,3"}}}, {{{"NCCL_IB_GID_INDEX", "3"}}}},
      {"NCCL001", Info, "NCCL_IB_SL", {{{"NCCL_IB_SL", "3 "}}}, {{{"NCCL_IB_SL", " 3"}}}},
      {"NCCL002", Error, "NCCL_IB_DISABLE", {{{"NCCL_IB_DISABLE", "true"}}}, {{{"NCCL_IB_DISABLE", ""}}}},
      {"NCCL003", Warning, "NCCL_IB_TC", {{{"NCCL_IB_TC", "0106"}}}, {{{"NCCL_IB_TC", "0"}}}},
      {"NCCL003", Warning, "NCCL_IB_TC", {{{"NCCL_IB_TC", "0x1A"}}}, {{{"NCCL_MNNVL_UUID", "0x1A"}}}},
      {"NCCL004", Error, "NCCL_BUFFSIZE", {{{"NCCL_BUFFSIZE", "8M"}}}, {{{"NCCL_BUFFSIZE", "8388608"}}}},
      {"NCCL005", Error, "NCCL_IB_TIMEOUT", {{{"NCCL_IB_TIMEOUT", "99999999999999999999"}}}, {{{"NCCL_MNNVL_UUID", "9223372036854775807"}}}},
      {"NCCL006", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "mlx5_0, mlx5_1"}}}, {{{"NCCL_NET", "AWS Libfabric"}}}},
      {"NCCL006", Error, "NCCL_SOCKET_IFNAME", {{{"NCCL_SOCKET_IFNAME", "eth0\r"}}}, {{{"NCCL_IB_TIMEOUT", "20\r"}}}},
      {"NCCL007", Error, "NCCL_SOCKET_IFNAME", {{{"NCCL_SOCKET_IFNAME", "\"eth0\""}}}, {{{"NCCL_SOCKET_IFNAME", "eth0"}}}},
      {"NCCL008", Error, "NCCL_NET", {{{"NCCL_NET", ""}}}, {{{"NCCL_SOCKET_IFNAME", ""}}}},
      {"NCCL008", Warning, "NCCL_NET_PLUGIN", {{{"NCCL_NET_PLUGIN", ""}}, at_2_27}, {{{"NCCL_NET_PLUGIN", ""}}, at_2_21}},
      {"NCCL009", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "=^mlx5_0"}}}, {{{"NCCL_IB_HCA", "^=mlx5_0"}}}},
      {"NCCL009", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "=mlx5_0,=mlx5_1"}}}, {{{"NCCL_IB_HCA", "=mlx5_0,mlx5_1"}}}},
      {"NCCL010", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "^"}}}, {{{"NCCL_IB_HCA", ""}}}},
      {"NCCL011", Warning, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "mlx5_1"}}, devices}, {{{"NCCL_IB_HCA", "=mlx5_1"}}, devices}},
      {"NCCL011", Warning, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "mlx5_1:1"}}, devices}, {{{"NCCL_IB_HCA", "mlx5"}}, devices}},
      {"NCCL012", Error, "NCCL_P2P_LEVEL", {{{"NCCL_P2P_LEVEL", "nvl"}}}, {{{"NCCL_P2P_LEVEL", "NVL"}}}},
      {"NCCL012", Error, "NCCL_NET_GDR_LEVEL", {{{"NCCL_NET_GDR_LEVEL", "P2C"}}, at_2_21}, {{{"NCCL_NET_GDR_LEVEL", "P2C"}}, at_2_30}},
      {"NCCL013", Error, "NCCL_SOCKET_FAMILY", {{{"NCCL_SOCKET_FAMILY", "IPv6"}}}, {{{"NCCL_SOCKET_FAMILY", "AF_INET6"}}}},
      {"NCCL013", Error, "NCCL_NETDEVS_POLICY", {{{"NCCL_NETDEVS_POLICY", "MAX:0"}}}, {{{"NCCL_NETDEVS_POLICY", "MAX:2"}}}},
      {"NCCL013", Error, "NCCL_SET_THREAD_NAME", {{{"NCCL_SET_THREAD_NAME", "yes"}}, at_2_30}, {{{"NCCL_SET_THREAD_NAME", "true"}}, at_2_30}},
      {"NCCL014", Error, "NCCL_ALGO", {{{"NCCL_ALGO", "Ringg"}}, at_2_27}, {{{"NCCL_ALGO", "allreduce:tree;broadcast:ring"}}, at_2_27}},
      {"NCCL014", Error, "NCCL_ALGO", {{{"NCCL_ALGO", "ring;tree"}}, at_2_27}, {{{"NCCL_ALGO", "ring;allreduce:tree"}}, at_2_27}},
      {"NCCL015", Error, "NCCL_ALGO", {{{"NCCL_ALGO", "allreduce:tree"}}, at_2_21}, {{{"NCCL_ALGO", "ring,tree"}}, at_2_21}},
      {"NCCL016", Warning, "NCCL_DEBUG", {{{"NCCL_DEBUG", "VERBOSE"}}}, {{{"NCCL_DEBUG", "warn"}}}},
      {"NCCL016", Warning, "NCCL_DEBUG_SUBSYS", {{{"NCCL_DEBUG_SUBSYS", "INIT,RAS"}}, at_2_21}, {{{"NCCL_DEBUG_SUBSYS", "INIT,RAS"}}, at_2_27}},
      {"NCCL017", Info, "NCCL_P2P_DISABLE", {{{"NCCL_P2P_DISABLE", "0"}}}, {{{"NCCL_P2P_DISABLE", "1"}}}},
      {"NCCL017", Error, "NCCL_SHM_DISABLE", {{{"NCCL_SHM_DISABLE", "true"}}}, {{{"NCCL_SHM_DISABLE", "1"}}}},
      {"NCCL018", Error, "NCCL_IB_ADDR_RANGE", {{{"NCCL_IB_ADDR_RANGE", "198.51.100.0"}}}, {{{"NCCL_IB_ADDR_RANGE", "198.51.100.0/24"}}}},
      {"NCCL018", Error, "NCCL_IB_ADDR_RANGE", {{{"NCCL_IB_ADDR_RANGE", "2001:db8::/64"}}}, {{{"NCCL_IB_ADDR_RANGE", "2001:db8::/64"}, {"NCCL_IB_ADDR_FAMILY", "AF_INET6"}}}},
      {"NCCL019", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "mlx5_0:x"}}}, {{{"NCCL_IB_HCA", "mlx5_0:1"}}}},
      {"NCCL020", Warning, "NCCL_SOCKET_IFNAME", {{{"NCCL_SOCKET_IFNAME", list_of(17)}}}, {{{"NCCL_SOCKET_IFNAME", list_of(16)}}}},
      {"NCCL020", Warning, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", list_of(33)}}}, {{{"NCCL_IB_HCA", list_of(32)}}}},
      {"NCCL021", Error, "NCCL_ALGO", {{{"export NCCL_ALGO", "Ring"}}, in_conf}, {{{"NCCL_ALGO", "Ring"}}, in_conf}},
      {"NCCL021", Error, "NCCL_IB_TC", {{{"NCCL_IB_TC", "106 # lossless"}}, in_conf}, {{{"NCCL_IB_TC", "106"}}, in_conf}},
      {"NCCL021", Error, "NCCL_IB_TC", {{{"NCCL_IB_TC ", " 106"}}, in_conf}, {{{"NCCL_SOCKET_IFNAME", "=eth0"}}, in_conf}},
      {"NCCL021", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "mlx5_0\r"}}, in_conf_2_25}, {{{"NCCL_IB_HCA", "mlx5_0\r"}}, in_conf_2_30}},
      {"NCCL021", Warning, "# X", {{{"NCCL_IB_HCA", "mlx5_0"}}, in_conf_2_25}, {{{"NCCL_IB_HCA", "mlx5_0"}}, in_conf_2_30}},
      {"NCCL022", Warning, "NCCL_DEBUG", {{{"NCCL_DEBUG", "INFO"}, {"NCCL_DEBUG", "WARN"}}}, {{{"NCCL_DEBUG", "WARN"}, {"NCCL_DEBUG", "WARN"}}}},
      {"NCCL023", Error, "NCCL_CONF_FILE", {{{"NCCL_CONF_FILE", "/nccl/job.conf"}}, at_2_21}, {{{"NCCL_CONF_FILE", "/nccl/job.conf"}}, at_2_27}},
      {"NCCL023", Error, "NCCL_CONF_FILE", {{{"NCCL_CONF_FILE", "/nccl/job.conf"}}, no_file}, {{{"NCCL_CONF_FILE", "/nccl/job.conf"}}, with_file}},
      {"NCCL024", Warning, "NCCL_IB_TC", {{{"NCCL_IB_TC", "26"}}, lossless_26}, {{{"NCCL_IB_TC", "106"}}, lossless_26}},
      {"NCCL025", Error, "NCCL_IB_PKEY", {{{"NCCL_IB_PKEY", "32769"}}}, {{{"NCCL_IB_PKEY", "1"}}}},
      {"NCCL026", Error, "NCCL_IB_TIMEOUT", {{{"NCCL_IB_TIMEOUT", "32"}}}, {{{"NCCL_IB_TIMEOUT", "22"}}}},
      {"NCCL026", Error, "NCCL_IB_RETRY_CNT", {{{"NCCL_IB_RETRY_CNT", "8"}}}, {{{"NCCL_IB_RETRY_CNT", "7"}}}},
      {"NCCL027", Warning, "NCCL_NTHREADS", {{{"NCCL_NTHREADS", "8"}}}, {{{"NCCL_NTHREADS", "256"}}}},
      {"NCCL028", Error, "NCCL_MAX_NCHANNELS", {{{"NCCL_MAX_NCHANNELS", "0"}}}, {{{"NCCL_MAX_NCHANNELS", "32"}}}},
      {"NCCL028", Error, "NCCL_MIN_CTAS", {{{"NCCL_MIN_CTAS", "32"}, {"NCCL_MAX_CTAS", "16"}}}, {{{"NCCL_MIN_CTAS", "16"}, {"NCCL_MAX_CTAS", "16"}}}},
      {"NCCL029", Warning, "NCCL_NSOCKS_PERTHREAD",
       {{{"NCCL_SOCKET_NTHREADS", "8"}, {"NCCL_NSOCKS_PERTHREAD", "9"}}}, {{{"NCCL_SOCKET_NTHREADS", "8"}, {"NCCL_NSOCKS_PERTHREAD", "8"}}}},
      {"NCCL030", Error, "NCCL_SOCKET_IFNAME", {{{"NCCL_SOCKET_IFNAME", "198.51.100.0/24"}}}, {{{"NCCL_SOCKET_IFNAME", "bond0.2093"}}}},
      {"NCCL030", Error, "NCCL_IB_HCA", {{{"NCCL_IB_HCA", "198.51.100"}}}, {{{"NCCL_IB_HCA", "mlx5_0:1"}}}},
  };
}

}  // namespace verl::nccl
