#include "diagnosis/fabric/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

namespace verl::fabric {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

template <std::size_t N>
bool starts_with_any(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return name.size() > prefix.size() && name.starts_with(prefix);
  });
}

// Drivers number their devices; udev's rdma-persistent-naming writes the layer and the PCI place.
constexpr std::array<std::string_view, 32> kRdmaPrefixes{
    "mlx4_",   "mlx5_",   "mlx5_bond_", "mthca",  "bnxt_re",  "irdma",  "i40iw",   "efa_",   "rdmap", "hfi1_", "qib", "erdma_", "hns_",  "hrn", "qedr",
    "cxgb4_",  "cxgb3_",  "ocrdma",     "mana_",  "ionic_",   "xscale_", "usnic_", "vmw_pvrdma", "rxe", "siw", "roce", "iwp", "opap", "mlx5-", "ibp", "ibo", "ibs"};

constexpr std::array<std::string_view, 30> kVirtualPrefixes{
    "veth", "cali",  "cni",  "docker", "virbr", "vnet",  "tun",       "tap",       "flannel", "cilium", "lxc_", "lxc", "vxlan", "geneve", "gre",
    "wg",   "weave", "ovs-", "dummy",  "ifb",   "sit",   "ip6tnl",    "kube-ipvs", "nodelocaldns", "podman", "br-", "tailscale", "antrea", "genev_sys", "kube-bridge"};

}  // namespace

bool is_software_rdma(std::string_view device) {
  return (device.starts_with("rxe") || device.starts_with("siw")) && device.size() > 3;
}

bool is_bond_device(std::string_view device) { return device.find("bond") != std::string_view::npos; }

bool is_rdma_device_name(std::string_view name) {
  if (!is_name(name)) return false;
  return starts_with_any(name, kRdmaPrefixes) && std::any_of(name.begin(), name.end(), is_digit);
}

InterfaceKind kind_of_name(std::string_view interface) {
  if (interface == "lo") return InterfaceKind::Loopback;
  if (starts_with_any(interface, kVirtualPrefixes)) return InterfaceKind::Virtual;
  if (interface.starts_with("bond") && interface.find('.') == std::string_view::npos) return InterfaceKind::Bond;
  if (interface.starts_with("br") && interface.size() > 2 && is_digit(interface[2])) return InterfaceKind::Bridge;
  const std::size_t point = interface.rfind('.');
  if (point != std::string_view::npos && point + 1 < interface.size() &&
      std::all_of(interface.begin() + static_cast<std::ptrdiff_t>(point) + 1, interface.end(), is_digit)) {
    return interface.starts_with("ib") ? InterfaceKind::Infiniband : InterfaceKind::Vlan;
  }
  if (interface.starts_with("ib") && std::any_of(interface.begin(), interface.end(), is_digit)) return InterfaceKind::Infiniband;
  if (interface.size() > 2 && (interface.starts_with("en") || interface.starts_with("eth"))) return InterfaceKind::Ethernet;
  return InterfaceKind::Unknown;
}

bool is_name(std::string_view text) {
  constexpr std::size_t kLongest = 64;  // IB_DEVICE_NAME_MAX of the kernel; interfaces have 15
  if (text.empty() || text.size() > kLongest) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == ':' || c == '@';
  });
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto parts = [](std::string_view name) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;  // npos + 1: all are digits
    return std::tuple(name.substr(0, digits), name.size() - digits, name.substr(digits));
  };
  return parts(a) < parts(b);
}

}  // namespace verl::fabric
