#include "diagnosis/fabric/ip_words.h"

#include <algorithm>
#include <array>

namespace verl::fabric {
namespace {

constexpr std::array<std::string_view, 7> kOperstates{"UP", "DOWN", "UNKNOWN", "LOWERLAYERDOWN", "DORMANT", "NOTPRESENT", "TESTING"};

}  // namespace

bool is_operstate(std::string_view word) { return std::find(kOperstates.begin(), kOperstates.end(), word) != kOperstates.end(); }

void set_operstate(Store& store, Interface& interface, std::string_view state, const Line& line) {
  store.value(interface_path(interface, "state"), std::string(state));
  interface.lines["state"] = store.evidence(line);
  if (interface.running) return;  // the flags said it
  if (state == "UP") interface.running = true;
  if (state == "UP" && !interface.up) interface.up = true;
  if (state == "DOWN" || state == "LOWERLAYERDOWN" || state == "NOTPRESENT" || state == "DORMANT") interface.running = false;
}

void set_flags(Store& store, Interface& interface, const std::vector<std::string_view>& flags, const Line& line) {
  const auto has = [&](std::string_view flag) { return std::find(flags.begin(), flags.end(), flag) != flags.end(); };
  interface.up = has("UP");
  interface.running = has("LOWER_UP");
  interface.lines["running"] = store.evidence(line);
  if (has("LOOPBACK")) interface.kind = InterfaceKind::Loopback;
  if (has("MASTER")) interface.kind = InterfaceKind::Bond;
  store.value(interface_path(interface, "up"), *interface.up);
  store.value(interface_path(interface, "running"), *interface.running);
}

void set_link_type(Interface& interface, std::string_view type) {
  if (type == "infiniband") interface.kind = InterfaceKind::Infiniband;
  if (type == "loopback") interface.kind = InterfaceKind::Loopback;
  if (type == "ether" && (interface.kind == InterfaceKind::Unknown || interface.kind == InterfaceKind::Infiniband)) interface.kind = InterfaceKind::Ethernet;
  if (type == "none" || type == "ipip" || type == "sit" || type == "gre" || type == "tunnel6") interface.kind = InterfaceKind::Virtual;
}

void set_kind(Interface& interface, std::string_view kind) {
  constexpr std::array<std::string_view, 14> kVirtual{"veth",   "vxlan", "geneve", "gre",  "gretap",    "ipip",   "sit",
                                                      "ip6tnl", "tun",   "dummy",  "ifb", "wireguard", "nlmon", "erspan"};
  if (kind == "bond") interface.kind = InterfaceKind::Bond;
  if (kind == "bridge") interface.kind = InterfaceKind::Bridge;
  if (kind == "vlan") interface.kind = InterfaceKind::Vlan;
  if (kind == "ipoib") interface.kind = InterfaceKind::Infiniband;
  if (std::find(kVirtual.begin(), kVirtual.end(), kind) != kVirtual.end()) interface.kind = InterfaceKind::Virtual;
}

void add_address(Store& store, Interface& interface, std::string_view address, const Line& line) {
  constexpr std::size_t kMost = 4096;
  if (interface.addresses.size() >= kMost) return store.unread(line, "more addresses than an interface has");
  store.value(interface_path(interface, "address[" + std::to_string(interface.addresses.size()) + "]"), std::string(address));
  interface.lines.emplace("addresses", store.evidence(line));
  interface.addresses.emplace_back(address);
}

void set_master(Store& store, Interface& interface, std::string_view master, const Line& line) {
  interface.master = std::string(master);
  interface.lines["master"] = store.evidence(line);
  store.value(interface_path(interface, "master"), interface.master);
}

}  // namespace verl::fabric
