#include "diagnosis/fabric/store.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

#include "base/text.h"
#include "diagnosis/fabric/gid_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/rule.h"

namespace verl::fabric {
namespace {

using diagnosis::Evidence;
using diagnosis::Finding;

constexpr std::size_t kMost = 1024;  // ports or interfaces of one machine; a node with many pods has some hundred

std::string upper(std::string_view text) {
  std::string all(text);
  std::transform(all.begin(), all.end(), all.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return all;
}

// "4: ACTIVE" and "PORT_ACTIVE (4)" and "Active" say the same word.
std::string_view word_of(std::string_view text) {
  text = trim(text);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && parse_int(trim(text.substr(0, colon)))) text = trim(text.substr(colon + 1));
  const std::size_t open = text.find('(');
  if (open != std::string_view::npos && open > 0) text = trim(text.substr(0, open));
  return text;
}

// The number before the word, where sysfs and ibstatus print it: "4: ACTIVE".
void write_number(Store& store, const Port& port, std::string_view field, std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto number = colon == std::string_view::npos ? std::nullopt : parse_int(trim(text.substr(0, colon)));
  if (number) store.value(port_path(port, field), *number);
}

std::string compact(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) all += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return all;
}

// As sysfs writes them (kernel drivers/infiniband/core/sysfs.c); tools spell them in their own ways.
constexpr std::array<std::string_view, 7> kPhysical{"Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};

}  // namespace

Port* Store::port(std::string_view device, std::int32_t number) {
  std::vector<Port>& ports = facts().ports;
  const auto known = std::find_if(ports.rbegin(), ports.rend(), [&](const Port& one) { return one.device == device && one.port == number; });
  if (known != ports.rend()) return &*known;
  if (ports.size() >= kMost || device.empty()) return nullptr;
  Port port;
  port.device = std::string(device);
  port.port = number;
  ports.push_back(std::move(port));
  return &ports.back();
}

Interface* Store::interface(std::string_view name) {
  std::vector<Interface>& interfaces = facts().interfaces;
  const auto known = std::find_if(interfaces.rbegin(), interfaces.rend(), [&](const Interface& one) { return one.name == name; });
  if (known != interfaces.rend()) return &*known;
  if (interfaces.size() >= kMost || name.empty()) return nullptr;
  Interface interface;
  interface.name = std::string(name);
  interface.kind = kind_of_name(name);
  interfaces.push_back(std::move(interface));
  return &interfaces.back();
}

void Store::value(std::string name, diagnosis::Scalar value, std::string_view unit) {
  constexpr std::size_t kMostValues = 500'000;
  if (reading_.values.size() >= kMostValues) {
    if (!full_) incomplete("values", "more than " + std::to_string(kMostValues) + " values: the rest is not kept", {});
    full_ = true;
    return;
  }
  diagnosis::Value one;
  one.name = std::move(name);
  one.value = std::move(value);
  one.unit = std::string(unit);
  reading_.values.push_back(std::move(one));
}

Evidence Store::evidence(const Line& line) const {
  Evidence one;
  one.source = document_;
  one.line = line.number;
  one.text = shorten(line.bare, diagnosis::kEvidenceBytes);
  return one;
}

void Store::unread(const Line& line, std::string why) {
  diagnosis::UnreadLine one;
  one.line = line.number;
  one.text = shorten(line.text, diagnosis::kEvidenceBytes);
  one.why = std::move(why);
  add_unread(reading_, std::move(one));
}

Finding& Store::finding(std::string_view id, std::string subject, const Line& line) {
  Finding& finding = reading_.findings.emplace_back(diagnosis::finding_of(id, std::move(subject)));
  if (line.number > 0) finding.evidence.push_back(evidence(line));
  return finding;
}

void Store::incomplete(std::string subject, std::string message, const Line& line) {
  Finding& one = finding("document-incomplete", std::move(subject), line);
  one.message = std::move(message);
}

std::string port_name(const Port& port) { return port.device + "/" + std::to_string(port.port); }

std::string port_path(const Port& port, std::string_view field) { return "port[" + port_name(port) + "]." + std::string(field); }

std::string interface_path(const Interface& interface, std::string_view field) { return "interface[" + interface.name + "]." + std::string(field); }

void set_state(Store& store, Port& port, std::string_view state, const Line& line) {
  std::string word = upper(word_of(state));
  if (word.starts_with("PORT_")) word.erase(0, 5);
  if (word.starts_with("INITI")) word = "INIT";  // ibstat: Initializing
  if (word == "ACTIVE DEFER" || word == "ACTIVE_DEFER") word = "ACTIVE_DEFER";
  port.state = word;
  port.lines["state"] = store.evidence(line);
  store.value(port_path(port, "state"), word);
  write_number(store, port, "state_number", state);
}

void set_physical_state(Store& store, Port& port, std::string_view state, const Line& line) {
  const std::string_view said = word_of(state);
  const std::string letters = compact(said);
  const auto known = std::find_if(kPhysical.begin(), kPhysical.end(), [&](std::string_view one) { return compact(one) == letters; });
  port.physical_state = std::string(known == kPhysical.end() ? said : *known);
  if (letters == "PORTCONFIGTRAINING" || letters == "TRAINING") port.physical_state = "PortConfigurationTraining";
  port.lines["physical_state"] = store.evidence(line);
  store.value(port_path(port, "physical_state"), port.physical_state);
  write_number(store, port, "physical_state_number", state);
}

void set_rate(Store& store, Port& port, double gbps, std::string_view text, const Line& line) {
  port.rate_gbps = gbps;
  port.rate_text = std::string(text);
  port.lines["rate"] = store.evidence(line);
  store.value(port_path(port, "rate"), gbps, "Gb/s");
  if (!text.empty()) store.value(port_path(port, "rate_kind"), std::string(text));
}

void set_link_layer(Store& store, Port& port, std::string_view layer, const Line& line) {
  const std::string word = upper(trim(layer));
  if (word.starts_with("INFINIBAND") || word == "IB") port.link_layer = LinkLayer::Infiniband;
  if (word.starts_with("ETH")) port.link_layer = LinkLayer::Ethernet;
  port.lines["link_layer"] = store.evidence(line);
  store.value(port_path(port, "link_layer"), std::string(trim(layer)));
}

void set_lid(Store& store, Port& port, bool of_subnet_manager, std::int64_t lid, const Line& line) {
  constexpr std::int64_t kLargest = 0xFFFFFFFF / 2;
  if (lid < 0 || lid > kLargest) {
    store.unread(line, "not a LID");
    return;
  }
  constexpr std::int64_t kNone = 0xFFFF;
  if (lid != kNone) (of_subnet_manager ? port.sm_lid : port.lid) = static_cast<std::int32_t>(lid);
  port.lines[of_subnet_manager ? "sm_lid" : "lid"] = store.evidence(line);
  store.value(port_path(port, of_subnet_manager ? "sm_lid" : "lid"), lid);
}

void set_netdev(Store& store, Port& port, std::string_view netdev, const Line& line) {
  port.netdev = std::string(netdev);
  port.lines["netdev"] = store.evidence(line);
  store.value(port_path(port, "netdev"), port.netdev);
}

void set_mtu(Store& store, Interface& interface, std::int64_t mtu, const Line& line) {
  if (mtu <= 0 || mtu > std::numeric_limits<std::int32_t>::max()) {
    store.unread(line, "not an MTU");
    return;
  }
  interface.mtu = static_cast<std::int32_t>(mtu);
  interface.lines["mtu"] = store.evidence(line);
  store.value(interface_path(interface, "mtu"), mtu, "B");
}

void set_speed(Store& store, Interface& interface, std::int64_t mbps, const Line& line) {
  if (mbps <= 0 || mbps >= 0xFFFFFFFF) return;  // -1: the link is down, no speed
  interface.speed_mbps = mbps;
  interface.lines["speed"] = store.evidence(line);
  store.value(interface_path(interface, "speed"), mbps, "Mb/s");
}

void add_gid(Store& store, Port& port, rdma::GidEntry entry, std::string_view printed, const Line& line) {
  constexpr std::size_t kMostGids = 1024;
  const std::string path = port_path(port, "gid[" + std::to_string(entry.index) + "]");
  store.value(path, std::string(trim(printed)));
  if (!entry.type.empty()) store.value(path + ".type", entry.type);
  if (const std::string address = ipv4_of(entry.gid); !address.empty()) store.value(path + ".ipv4", address);
  port.lines["gid " + std::to_string(entry.index)] = store.evidence(line);
  const auto known = std::find_if(port.gids.rbegin(), port.gids.rend(), [&](const rdma::GidEntry& one) { return one.index == entry.index; });
  if (known != port.gids.rend()) return store.unread(line, "a second GID at this index");
  if (port.gids.size() >= kMostGids) return store.unread(line, "more GIDs than a port has");
  port.gids.push_back(std::move(entry));
}

void write_gid_choice(Store& store) {
  const std::vector<Port> ports = store.facts().ports;
  for (const Port& port : ports) {
    if (port.gids.empty() || port.link_layer != LinkLayer::Ethernet) continue;
    const std::int32_t index = rdma::nccl_gid_index(port.gids);
    const rdma::GidEntry* entry = rdma::entry_at(port.gids, index);
    const bool good = entry && rdma::usable(*entry);
    store.value("gid_index[" + port.device + (port.port == 1 ? "" : "/" + std::to_string(port.port)) + "]",
                good ? diagnosis::Scalar{std::int64_t{index}} : diagnosis::Scalar{std::string("none")});
  }
}

std::optional<double> rate_of(std::string_view text) {
  text = trim(text);
  const std::size_t unit = text.find(" Gb/sec");
  if (unit == std::string_view::npos) return std::nullopt;
  const auto number = parse_double(trim(text.substr(0, unit)));
  if (!number || *number < 0) return std::nullopt;
  return number;
}

std::string_view rate_kind(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.find(')', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  return trim(text.substr(open + 1, close - open - 1));
}

}  // namespace verl::fabric
