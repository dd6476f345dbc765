#include "diagnosis/log/interfaces.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using namespace std::string_view_literals;

// Names that container runtimes and network plugins of Kubernetes give: Docker, Podman, libvirt, Calico, Flannel, Cilium, Weave,
// Antrea, OVN, Kube-router, Multus' bridges, the AWS and GKE plugins, LXC.
constexpr std::array kContainer{"veth"sv, "cali"sv, "cni"sv,   "docker"sv, "virbr"sv, "vnet"sv,   "flannel"sv,      "tunl"sv, "vxlan"sv, "cilium"sv, "lxc"sv,
                                "lxd"sv,  "br-"sv,  "podman"sv, "weave"sv, "antrea"sv, "ovn"sv,   "nodelocaldns"sv, "kube-"sv, "dummy"sv, "eni"sv,   "gke"sv,
                                "genev"sv, "ovs"sv, "tap"sv,   "tun"sv,    "wg"sv,     "tailscale"sv};

constexpr std::size_t kInterfaces = 64;

}  // namespace

bool is_container_interface(std::string_view name) {
  return std::any_of(kContainer.begin(), kContainer.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string fault_of(const SocketInterface& one) {
  const bool local = is_link_local(one.address);
  if (is_container_interface(one.name)) return local ? "a container's interface with a link-local address" : "a container's interface";
  if (local) return "its address is link-local and reaches no other node";
  if (one.name == "lo" || is_loopback(one.address)) return "loopback";
  return {};
}

std::string interface_advice(const std::vector<SocketInterface>& all) {
  const auto good = std::find_if(all.begin(), all.end(), [](const SocketInterface& one) { return fault_of(one).empty(); });
  if (good == all.end()) return "set NCCL_SOCKET_IFNAME to the interface that leads to the other nodes, or to ^lo,docker,veth";
  return "set NCCL_SOCKET_IFNAME=" + good->name + " (or ^lo,docker,veth)";
}

std::vector<SocketInterface> read_interfaces(std::string_view text) {
  std::vector<SocketInterface> all;
  for (std::string_view word : split_whitespace(text)) {
    if (word.starts_with('[')) {
      const std::size_t close = word.find(']');
      if (close == std::string_view::npos) continue;
      word.remove_prefix(close + 1);
    }
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0 || all.size() >= kInterfaces) continue;
    const auto address = address_at(word.substr(colon + 1));
    if (!address || word.substr(colon + 1).find('<') == std::string_view::npos) continue;
    all.push_back({.name = std::string(word.substr(0, colon)), .address = address->host});
  }
  return all;
}

}  // namespace verl::log
