#include "diagnosis/nccl/hardware.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "arrange.h"
#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::NodeFacts;
using diagnosis::Policy;
using fabric::LinkLayer;

struct Row {
  std::string id;
  std::string what;
  std::string severity;  // empty: the rule keeps still
  std::function<void(NodeFacts&, Policy&)> arrange;
};

Findings judged(const std::function<void(NodeFacts&, Policy&)>& arrange) {
  NodeFacts node;
  Policy policy;
  nothing_set(node);
  arrange(node, policy);
  Findings found;
  judge_hardware(node, policy, found);
  return found;
}

void two_rails(NodeFacts& n) {
  add_port(n, "hfi_0", LinkLayer::Infiniband);
  add_port(n, "hfi_1", LinkLayer::Infiniband);
}

fabric::Port& roce(NodeFacts& n, std::string_view mapped = "0a07:0105") {
  fabric::Port& port = add_port(n, "roce_0", LinkLayer::Ethernet);
  port.gids = gid_table(mapped);
  port.active_mtu = 4096;
  return port;
}

void nv_linked(NodeFacts& n) {
  topology::Relation relation;
  relation.a = "GPU0";
  relation.b = "GPU1";
  relation.link = topology::Link::NvLink;
  relation.links = 18;
  n.topology.relations.push_back(relation);
}

void host_interfaces(NodeFacts& n) {
  add_interface(n, "lo", {"127.0.0.1/8", "::1/128"});
  add_interface(n, "ens7", {"192.0.2.41/24"});
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"NCCL301", "a working port is left unused", "error", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_DISABLE", "1"); }},
      {"NCCL301", "the text is no number", "", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_DISABLE", "true"); }},
      {"NCCL301", "the port is down", "", [](NodeFacts& n, Policy&) { add_port(n, "hfi_0", LinkLayer::Infiniband, "DOWN"); set(n, "NCCL_IB_DISABLE", "1"); }},
      {"NCCL301", "nobody knows the ports", "info", [](NodeFacts& n, Policy&) { set(n, "NCCL_IB_DISABLE", "1"); }},
      {"NCCL301", "sockets are wanted", "", [](NodeFacts& n, Policy& p) { two_rails(n); set(n, "NCCL_IB_DISABLE", "1"); p.expected_network = "Socket"; }},
      {"NCCL302", "the plugin goes on", "warning", [](NodeFacts& n, Policy&) { set(n, "NCCL_IB_DISABLE", "1"); n.nccl.host.plugins = std::vector<std::string>{"libnccl-net.so"}; }},
      {"NCCL302", "the plugin is off too", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_IB_DISABLE", "1"); set(n, "NCCL_IBEXT_DISABLE", "1"); set(n, "NCCL_NET_PLUGIN", "rdma"); }},
      {"NCCL302", "plugins are off", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_IB_DISABLE", "1"); set(n, "NCCL_NET_PLUGIN", "none"); }},
      {"NCCL303", "no such device", "error", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "ibx_9"); }},
      {"NCCL303", "only a dead port", "error", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_2", LinkLayer::Infiniband, "DOWN"); set(n, "NCCL_IB_HCA", "=hfi_2"); }},
      {"NCCL303", "everything excluded", "error", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "^hfi"); }},
      {"NCCL303", "one working port is enough", "", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "=hfi_1:1"); }},
      {"NCCL303", "names alone say nothing of states", "", [](NodeFacts& n, Policy&) { add_port(n, "hfi_0", LinkLayer::Unknown, ""); set(n, "NCCL_IB_HCA", "hfi_0"); }},
      {"NCCL303", "its state alone is not said", "info", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_2", LinkLayer::Unknown, ""); set(n, "NCCL_IB_HCA", "=hfi_2"); }},
      {"NCCL303", "no port is known", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_IB_HCA", "hfi_0"); }},
      {"NCCL304", "one entry of two is misspelt", "error", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "=hfi_0,HFI_1"); }},
      {"NCCL304", "one entry of two is dead", "error", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_2", LinkLayer::Infiniband, "DOWN"); set(n, "NCCL_IB_HCA", "=hfi_0,hfi_2"); }},
      {"NCCL304", "an exclusion may match nothing", "", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "^=hfi_0,hfi_bond_0"); }},
      {"NCCL304", "both entries match", "", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "=hfi_0,hfi_1"); }},
      {"NCCL305", "layers are mixed", "error", [](NodeFacts& n, Policy&) { two_rails(n); roce(n); set(n, "NCCL_IB_HCA", "hfi,roce"); }},
      {"NCCL305", "one layer is listed", "", [](NodeFacts& n, Policy&) { two_rails(n); roce(n); set(n, "NCCL_IB_HCA", "hfi"); }},
      {"NCCL306", "a slower port", "warning", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_2", LinkLayer::Infiniband, "ACTIVE", 100); set(n, "NCCL_IB_HCA", "hfi"); }},
      {"NCCL306", "a bond", "warning", [](NodeFacts& n, Policy&) { add_port(n, "x_0", LinkLayer::Ethernet); add_port(n, "x_bond_0", LinkLayer::Ethernet); set(n, "NCCL_IB_HCA", "x_"); }},
      {"NCCL306", "the control interface", "warning", [](NodeFacts& n, Policy& p) { roce(n).netdev = "ens7"; add_port(n, "roce_1", LinkLayer::Ethernet); p.control_interface = "ens7"; set(n, "NCCL_IB_HCA", "roce"); }},
      {"NCCL306", "bonds alone", "", [](NodeFacts& n, Policy&) { add_port(n, "x_bond_0", LinkLayer::Ethernet); add_port(n, "x_bond_1", LinkLayer::Ethernet); set(n, "NCCL_IB_HCA", "x_"); }},
      {"NCCL307", "no list, two kinds", "warning", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_bond_0", LinkLayer::Ethernet, "ACTIVE", 200); }},
      {"NCCL307", "no list, one kind", "", [](NodeFacts& n, Policy&) { two_rails(n); add_port(n, "hfi_2", LinkLayer::Infiniband, "DOWN", 10); }},
      {"NCCL308", "uverbs is shut", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.openable["hfi_1"] = false; }},
      {"NCCL308", "the shut one is not selected", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.openable["hfi_1"] = false; set(n, "NCCL_IB_HCA", "=hfi_0"); }},
      {"NCCL309", "no libibverbs beside ports", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.libibverbs = false; }},
      {"NCCL309", "no RDMA is expected", "", [](NodeFacts& n, Policy&) { n.nccl.host.libibverbs = false; }},
      {"NCCL310", "another node's name", "error", [](NodeFacts& n, Policy&) { host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "ens9"); }},
      {"NCCL310", "no address", "error", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "ens9", {}); set(n, "NCCL_SOCKET_IFNAME", "ens9"); }},
      {"NCCL310", "no carrier", "error", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "ens9", {"192.0.2.9/24"}, false); set(n, "NCCL_SOCKET_IFNAME", "ens9"); }},
      {"NCCL310", "old NCCL takes the dead one first", "error", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.21.5"; add_interface(n, "ens1", {"192.0.2.9/24"}, false); host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "ens"); }},
      {"NCCL310", "some NCCL takes the dead one first", "warning", [](NodeFacts& n, Policy&) { add_interface(n, "ens1", {"192.0.2.9/24"}, false); host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "ens"); }},
      {"NCCL310", "new NCCL passes it by", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.28.3"; add_interface(n, "ens1", {"192.0.2.9/24"}, false); host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "ens"); }},
      {"NCCL310", "one entry of a list for many nodes", "", [](NodeFacts& n, Policy&) { host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "=eth2,ens7"); }},
      {"NCCL310", "no interface is known", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_SOCKET_IFNAME", "ens9"); }},
      {"NCCL310", "a single character is no list", "", [](NodeFacts& n, Policy&) { host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "x"); }},
      {"NCCL311", "lo in a job of many nodes", "error", [](NodeFacts& n, Policy&) { set(n, "NCCL_SOCKET_IFNAME", "lo"); }},
      {"NCCL311", "lo on one node", "", [](NodeFacts& n, Policy& p) { p.multi_node = false; host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "lo"); }},
      {"NCCL311", "lo is one of two", "", [](NodeFacts& n, Policy&) { host_interfaces(n); set(n, "NCCL_SOCKET_IFNAME", "lo,ens"); }},
      {"NCCL312", "lo stays eligible", "warning", [](NodeFacts& n, Policy&) { set(n, "NCCL_SOCKET_IFNAME", "^docker0,veth"); }},
      {"NCCL312", "a CNI interface stays eligible", "warning", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "cali12ab", {"fe80::1/64"}); set(n, "NCCL_SOCKET_IFNAME", "^lo,docker"); }},
      {"NCCL312", "all inner ones are out", "", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "veth77", {"fe80::1/64"}); set(n, "NCCL_SOCKET_IFNAME", "^lo,docker,veth"); }},
      {"NCCL312", "one node may bootstrap on lo", "", [](NodeFacts& n, Policy& p) { p.multi_node = false; set(n, "NCCL_SOCKET_IFNAME", "^docker0,veth"); }},
      {"NCCL312", "exact exclusion misses what a prefix would take", "warning", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "docker0", {"172.17.0.1/16"}); set(n, "NCCL_SOCKET_IFNAME", "^=lo,docker"); }},
      {"NCCL313", "several candidates", "warning", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "veth77", {"fe80::1/64"}); }},
      {"NCCL313", "the first is a bridge", "warning", [](NodeFacts& n, Policy&) { add_interface(n, "br-4e1f", {"172.18.0.1/16"}); }},
      {"NCCL313", "one candidate", "", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "docker0", {"172.17.0.1/16"}); }},
      {"NCCL313", "ib* comes first and alone", "", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "ens8", {"192.0.2.42/24"}); add_interface(n, "ib0", {"10.1.0.4/16"}); }},
      {"NCCL313", "one node needs no way out", "", [](NodeFacts& n, Policy& p) { p.multi_node = false; host_interfaces(n); add_interface(n, "ens8", {"192.0.2.42/24"}); }},
      {"NCCL313", "it is set", "", [](NodeFacts& n, Policy&) { host_interfaces(n); add_interface(n, "ens8", {"192.0.2.42/24"}); set(n, "NCCL_SOCKET_IFNAME", "=ens7"); }},
      {"NCCL314", "a RoCE v1 entry", "error", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "2"); }},
      {"NCCL314", "a link-local entry", "error", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "1"); }},
      {"NCCL314", "beyond the table", "error", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "99999999999"); }},
      {"NCCL314", "of another namespace", "error", [](NodeFacts& n, Policy&) { roce(n).gids[3].type = ""; set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL314", "a table without types", "unknown", [](NodeFacts& n, Policy&) { for (auto& one : roce(n).gids) one.type = ""; set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL314", "the right entry", "", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL314", "-1 is no pin", "", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "-1"); }},
      {"NCCL315", "pinned without need", "warning", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.27.3"; roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL315", "the version is unknown", "warning", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL315", "needed up to 2.20.5", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.20.5"; roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL316", "the old default", "error", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.20.5"; roce(n); }},
      {"NCCL316", "NCCL chooses", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.21.5"; roce(n); }},
      {"NCCL316", "set per node", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.20.5"; roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL317", "nothing fits", "error", [](NodeFacts& n, Policy&) { roce(n).gids.resize(2); }},
      {"NCCL317", "the range leaves nothing", "error", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_ADDR_RANGE", "10.99.0.0/16"); }},
      {"NCCL317", "a v1 entry alone", "error", [](NodeFacts& n, Policy&) { roce(n).gids.resize(3); }},
      {"NCCL317", "a table without types", "unknown", [](NodeFacts& n, Policy&) { for (auto& one : roce(n).gids) one.type = ""; }},
      {"NCCL317", "the usual table", "", [](NodeFacts& n, Policy&) { roce(n); }},
      {"NCCL317", "IPv6 with its family", "", [](NodeFacts& n, Policy&) { auto& port = roce(n); port.gids.resize(2); port.gids.push_back(gid(2, "2001:0db8:0000:0000:0000:0000:0000:0005", "RoCE v2")); set(n, "NCCL_IB_ADDR_FAMILY", "AF_INET6"); }},
      {"NCCL318", "a namespace of its own", "warning", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.25.1"; roce(n); n.nccl.host.own_network_namespace = true; }},
      {"NCCL318", "tolerated since", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.26.2"; roce(n); n.nccl.host.own_network_namespace = true; }},
      {"NCCL319", "InfiniBand alone", "info", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL319", "RoCE beside it", "", [](NodeFacts& n, Policy&) { two_rails(n); roce(n); set(n, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL320", "no guard", "info", [](NodeFacts& n, Policy&) { two_rails(n); }},
      {"NCCL320", "an interface that is up is no RDMA cluster", "", [](NodeFacts& n, Policy&) { auto& port = add_port(n, "roce_0", LinkLayer::Ethernet, ""); port.netdev_up = true; }},
      {"NCCL320", "guarded", "", [](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_NET", "IB"); }},
      {"NCCL321", "no such plugin", "warning", [](NodeFacts& n, Policy&) { n.nccl.host.plugins = std::vector<std::string>{"libnccl-net-ofi.so"}; set(n, "NCCL_NET_PLUGIN", "rdma"); }},
      {"NCCL321", "no such network", "error", [](NodeFacts& n, Policy&) { n.nccl.host.networks = std::vector<std::string>{"AWS Libfabric"}; set(n, "NCCL_NET", "IBext_v8"); }},
      {"NCCL321", "found by its short name", "", [](NodeFacts& n, Policy&) { n.nccl.host.plugins = std::vector<std::string>{"/opt/x/libnccl-net-ofi.so"}; set(n, "NCCL_NET_PLUGIN", "ofi"); }},
      {"NCCL321", "case does not matter", "", [](NodeFacts& n, Policy&) { n.nccl.host.networks = std::vector<std::string>{"AWS Libfabric"}; set(n, "NCCL_NET", "aws libfabric"); }},
      {"NCCL322", "NVLink unused", "error", [](NodeFacts& n, Policy&) { nv_linked(n); set(n, "NCCL_P2P_DISABLE", "1"); }},
      {"NCCL322", "the lowest level", "error", [](NodeFacts& n, Policy&) { nv_linked(n); set(n, "NCCL_P2P_LEVEL", "0"); }},
      {"NCCL322", "2 does nothing", "", [](NodeFacts& n, Policy&) { nv_linked(n); set(n, "NCCL_P2P_DISABLE", "2"); set(n, "NCCL_P2P_LEVEL", "NVL"); }},
      {"NCCL322", "PCIe alone", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_P2P_DISABLE", "1"); }},
      {"NCCL323", "GPUDirect off", "error", [](NodeFacts& n, Policy&) { set(n, "NCCL_NET_GDR_LEVEL", "LOC"); }},
      {"NCCL323", "a level", "", [](NodeFacts& n, Policy&) { set(n, "NCCL_NET_GDR_LEVEL", "PXB"); }},
      {"NCCL324", "ACS redirects", "warning", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.acs_redirect = true; set(n, "NCCL_NET_GDR_LEVEL", "SYS"); }},
      {"NCCL324", "inside the switch", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.acs_redirect = true; set(n, "NCCL_NET_GDR_LEVEL", "2"); }},
      {"NCCL325", "neither way", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.peer_memory_module = false; n.nccl.host.dmabuf = false; }},
      {"NCCL325", "DMA-BUF switched off", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.peer_memory_module = false; n.nccl.host.dmabuf = true; set(n, "NCCL_DMABUF_ENABLE", "0"); }},
      {"NCCL325", "half is known and needed", "unknown", [](NodeFacts& n, Policy& p) { two_rails(n); p.gpudirect = true; n.nccl.host.peer_memory_module = false; }},
      {"NCCL325", "DMA-BUF is there", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.peer_memory_module = false; n.nccl.host.dmabuf = true; }},
      {"NCCL326", "the default size", "error", [](NodeFacts& n, Policy& p) { p.gpus = 8; n.kubernetes.shm_bytes = 64LL << 20; }},
      {"NCCL326", "large enough", "", [](NodeFacts& n, Policy& p) { p.gpus = 8; n.kubernetes.shm_bytes = 16LL << 30; }},
      {"NCCL326", "one rank shares nothing", "", [](NodeFacts& n, Policy&) { n.nccl.host.local_ranks = 1; n.kubernetes.shm_bytes = 64LL << 20; }},
      {"NCCL327", "limited and no capability", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.kubernetes.memlock_bytes = 8LL << 20; n.nccl.host.ipc_lock = false; }},
      {"NCCL327", "the capability is unknown", "unknown", [](NodeFacts& n, Policy&) { two_rails(n); n.kubernetes.memlock_bytes = 8LL << 20; }},
      {"NCCL327", "unlimited", "", [](NodeFacts& n, Policy&) { two_rails(n); n.kubernetes.memlock_bytes = -1; }},
      {"NCCL327", "the capability lifts it", "", [](NodeFacts& n, Policy&) { two_rails(n); n.kubernetes.memlock_bytes = 8LL << 20; n.nccl.host.ipc_lock = true; }},
      {"NCCL328", "missing", "warning", [](NodeFacts& n, Policy&) { n.nccl.host.files["/t.xml"].present = false; set(n, "NCCL_TOPO_FILE", "/t.xml"); }},
      {"NCCL328", "malformed", "error", [](NodeFacts& n, Policy&) { n.nccl.host.files["/t.xml"].malformed = true; set(n, "NCCL_TOPO_FILE", "/t.xml"); }},
      {"NCCL328", "of another machine", "warning", [](NodeFacts& n, Policy&) { n.nccl.host.instance_type = "x8"; n.nccl.host.files["/t.xml"].instance_type = "x4"; set(n, "NCCL_TOPO_FILE", "/t.xml"); }},
      {"NCCL328", "of this machine", "", [](NodeFacts& n, Policy&) { n.nccl.host.instance_type = "x8"; n.nccl.host.files["/t.xml"].instance_type = "x8"; set(n, "NCCL_TOPO_FILE", "/t.xml"); }},
      {"NCCL329", "CPU 8 is not ours", "error", [](NodeFacts& n, Policy&) { n.nccl.host.cpuset = "0-3,5-7"; set(n, "NCCL_PROXY_CPUSET", "1-2,6-8"); }},
      {"NCCL329", "a hole", "error", [](NodeFacts& n, Policy&) { n.nccl.host.cpuset = "0-3,5-7"; set(n, "NCCL_PROXY_CPUSET", "3-5"); }},
      {"NCCL329", "inside", "", [](NodeFacts& n, Policy&) { n.nccl.host.cpuset = "0-3,4-7"; set(n, "NCCL_PROXY_CPUSET", "3-5"); }},
      {"NCCL330", "crossing isolated rails", "error", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.rails_isolated = true; set(n, "NCCL_CROSS_NIC", "1"); }},
      {"NCCL330", "the default may cross", "warning", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.rails_isolated = true; }},
      {"NCCL330", "each stays on its rail", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.rails_isolated = true; set(n, "NCCL_CROSS_NIC", "0"); }},
      {"NCCL331", "the DSCP itself", "error", [](NodeFacts& n, Policy&) { roce(n); n.nccl.host.lossless_dscp = 26; set(n, "NCCL_IB_TC", "26"); }},
      {"NCCL331", "not set", "error", [](NodeFacts& n, Policy&) { roce(n); n.nccl.host.lossless_dscp = 26; }},
      {"NCCL331", "106 is DSCP 26", "", [](NodeFacts& n, Policy&) { roce(n); n.nccl.host.lossless_dscp = 26; set(n, "NCCL_IB_TC", "106"); }},
      {"NCCL331", "InfiniBand has no DSCP", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.lossless_dscp = 26; }},
      {"NCCL332", "no such fabric", "warning", [](NodeFacts& n, Policy&) { roce(n); n.nccl.host.adaptive_routing = false; set(n, "NCCL_IB_ADAPTIVE_ROUTING", "1"); }},
      {"NCCL332", "nobody knows", "info", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_IB_ADAPTIVE_ROUTING", "1"); }},
      {"NCCL332", "made for it", "", [](NodeFacts& n, Policy&) { roce(n); n.nccl.host.adaptive_routing = true; set(n, "NCCL_IB_ADAPTIVE_ROUTING", "1"); }},
      {"NCCL333", "on RoCE", "warning", [](NodeFacts& n, Policy&) { roce(n); set(n, "NCCL_COLLNET_ENABLE", "1"); }},
      {"NCCL333", "no plugin", "warning", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.sharp_plugin = false; set(n, "NCCL_COLLNET_ENABLE", "1"); }},
      {"NCCL333", "with SHARP", "", [](NodeFacts& n, Policy&) { two_rails(n); n.nccl.host.sharp_plugin = true; set(n, "NCCL_COLLNET_ENABLE", "1"); }},
      {"NCCL334", "no channel", "error", [](NodeFacts& n, Policy&) { n.nccl.host.imex_channel = false; set(n, "NCCL_MNNVL_ENABLE", "1"); }},
      {"NCCL334", "nobody knows", "info", [](NodeFacts& n, Policy&) { set(n, "NCCL_MNNVL_ENABLE", "1"); }},
      {"NCCL334", "2 asks first", "", [](NodeFacts& n, Policy&) { n.nccl.host.imex_channel = false; set(n, "NCCL_MNNVL_ENABLE", "2"); }},
      {"NCCL335", "no NVSwitch", "error", [](NodeFacts& n, Policy&) { n.topology.nvswitch = false; set(n, "NCCL_NVLS_ENABLE", "1"); }},
      {"NCCL335", "nobody knows", "info", [](NodeFacts& n, Policy&) { set(n, "NCCL_NVLS_ENABLE", "1"); }},
      {"NCCL335", "the driver offers it", "", [](NodeFacts& n, Policy&) { n.nccl.host.nvls_multicast = true; set(n, "NCCL_NVLS_ENABLE", "1"); }},
      {"NCCL336", "two namespaces", "error", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.29.2"; n.nccl.host.processes = {{.name = "pod a", .hostname = "a", .network_namespace = "net:[1]"}, {.name = "pod b", .hostname = "a", .network_namespace = "net:[2]"}}; }},
      {"NCCL336", "files before 2.29", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.28.9"; n.nccl.host.processes = {{.name = "pod a", .hostname = "a", .network_namespace = "net:[1]"}, {.name = "pod b", .hostname = "a", .network_namespace = "net:[2]"}}; }},
      {"NCCL336", "one namespace", "", [](NodeFacts& n, Policy&) { n.nccl.loaded_version = "2.29.2"; n.nccl.host.processes = {{.name = "rank 0", .hostname = "a", .network_namespace = "net:[1]"}, {.name = "rank 1", .hostname = "a", .network_namespace = "net:[1]"}}; }},
      {"NCCL337", "small packets", "warning", [](NodeFacts& n, Policy&) { roce(n).active_mtu = 1024; }},
      {"NCCL337", "full ones needed", "error", [](NodeFacts& n, Policy& p) { p.gpudirect = true; roce(n).active_mtu = 1024; }},
      {"NCCL337", "full ones", "", [](NodeFacts& n, Policy&) { roce(n); }},
      {"NCCL338", "rxe", "error", [](NodeFacts& n, Policy&) { add_port(n, "rxe0", LinkLayer::Ethernet); }},
      {"NCCL338", "rxe is good enough", "", [](NodeFacts& n, Policy& p) { p.software_rdma = true; add_port(n, "rxe0", LinkLayer::Ethernet); }},
      {"NCCL338", "not selected", "", [](NodeFacts& n, Policy&) { roce(n); add_port(n, "rxe0", LinkLayer::Ethernet); set(n, "NCCL_IB_HCA", "=roce_0"); }},
  };
  return kRows;
}

TEST(NcclHardware, FiresWhereItShouldAndKeepsStillBeside) {
  for (const Row& row : rows()) {
    const Findings found = judged(row.arrange);
    const Findings own = of(found, row.id);
    const std::string got = own.empty() ? "" : std::string(diagnosis::to_string(own.front().severity));
    EXPECT_EQ(got, row.severity) << row.id << ": " << row.what << (own.empty() ? "" : "\n" + own.front().message);
    for (const Finding& one : found) {
      EXPECT_FALSE(one.message.empty()) << one.id;
      EXPECT_TRUE(one.nodes.empty()) << one.id;
    }
  }
}

TEST(NcclHardware, HasAFiringCaseAndANearMissForEachRule) {
  std::set<std::string> firing;
  std::set<std::string> still;
  for (const Row& row : rows()) (row.severity.empty() ? still : firing).insert(row.id);
  std::set<std::string> all;
  for (const diagnosis::Rule& rule : hardware_rules()) all.emplace(rule.id);
  EXPECT_EQ(all.size(), 38U);
  EXPECT_EQ(*all.begin(), "NCCL301");
  EXPECT_EQ(*all.rbegin(), "NCCL338");
  EXPECT_EQ(firing, all);
  EXPECT_EQ(still, all);
}

TEST(NcclHardware, SaysNothingOfANodeWithoutAnyEnvironment) {
  NodeFacts node;
  two_rails(node);
  host_interfaces(node);
  Findings found;
  judge_hardware(node, Policy{}, found);
  EXPECT_TRUE(found.empty());
}

TEST(NcclHardware, NamesTheNearestDeviceAndTheLine) {
  const Findings found = judged([](NodeFacts& n, Policy&) { two_rails(n); set(n, "NCCL_IB_HCA", "=hfi_0,HFI_1"); });
  const Finding finding = of(found, "NCCL304").at(0);
  EXPECT_EQ(finding.seen, "HFI_1");
  ASSERT_EQ(finding.evidence.size(), 1U);
  EXPECT_EQ(finding.evidence[0], (diagnosis::Evidence{.source = "env", .line = 1, .text = "NCCL_IB_HCA==hfi_0,HFI_1"}));
}

TEST(NcclHardware, CompletesAnExclusionListInItsOwnSyntax) {
  const auto wanted = [](std::string value) {
    const Findings found = judged([&](NodeFacts& n, Policy&) { set(n, "NCCL_SOCKET_IFNAME", value); });
    return of(found, "NCCL312").at(0).wanted;
  };
  EXPECT_EQ(wanted("^docker0,veth"), "^lo,docker0,veth");
  EXPECT_EQ(wanted("^=docker0"), "^=lo,docker0");
}

TEST(NcclHardware, SaysWhichInterfaceTheBootstrapWouldTake) {
  const Findings found = judged([](NodeFacts& n, Policy&) {
    host_interfaces(n);
    add_interface(n, "veth77", {"fe80::1/64"});
  });
  const Finding finding = of(found, "NCCL313").at(0);
  EXPECT_EQ(finding.wanted, "=ens7");
  EXPECT_NE(finding.message.find("the bootstrap goes over ens7"), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.find("veth77 fe80::1/64"), std::string::npos) << finding.message;
}

}  // namespace
}  // namespace verl::nccl
