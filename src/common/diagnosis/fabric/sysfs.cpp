// Files below /sys that somebody flattened: `grep -r . /sys/class/infiniband`, "path=value", `head` with its "==> path <==", or a
// JSON object of paths. The path decides, whatever stands between it and the value.
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "diagnosis/fabric/gid_text.h"
#include "diagnosis/fabric/ip_words.h"
#include "diagnosis/fabric/json_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"

namespace verl::fabric {
namespace {

struct Place {
  std::string_view device{};     // of RDMA
  std::int32_t port{0};          // 0: the device itself
  std::string_view interface{};  // or an interface
  std::string_view pci{};
  std::string_view file{};       // below the port, the device or the interface: "counters/link_downed"
  std::string_view rest{};       // what follows the path
};

bool of_path(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '/'; }

bool is_pci(std::string_view text) { return std::count(text.begin(), text.end(), ':') == 2 && contains(text, ".") && text.size() >= 12; }

// The segment that ends before `at`, which stands on a '/'.
std::string_view segment_before(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(0, at);
  const std::size_t slash = head.rfind('/');
  return slash == std::string_view::npos ? head : head.substr(slash + 1);
}

std::string_view segment_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] != '/' && of_path(text[end])) ++end;
  return text.substr(at, end - at);
}

void take_file(Place& place, std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && of_path(text[end])) ++end;
  place.file = text.substr(0, end);
  while (place.file.starts_with('/')) place.file.remove_prefix(1);
  place.rest = text.substr(end);
}

// The PCI function is the segment before "infiniband" or "net".
std::string_view pci_before(std::string_view text, std::size_t at) {
  const std::string_view segment = segment_before(text, at);
  return is_pci(segment) ? segment : std::string_view{};
}

std::optional<Place> place_of(std::string_view line) {
  constexpr std::string_view kPorts = "/ports/";
  constexpr std::string_view kRdma = "/infiniband/";
  constexpr std::string_view kNet = "/net/";
  Place place;
  const std::size_t rdma = line.find(kRdma);
  if (const std::size_t ports = line.find(kPorts); ports != std::string_view::npos) {
    place.device = segment_before(line, ports);
    const std::string_view number = segment_at(line, ports + kPorts.size());
    const auto port = parse_int<std::int32_t>(number);
    if (!port || *port <= 0 || !is_name(place.device)) return std::nullopt;
    place.port = *port;
    if (rdma != std::string_view::npos && rdma < ports) place.pci = pci_before(line, rdma);
    take_file(place, line.substr(ports + kPorts.size() + number.size()));
  } else if (rdma != std::string_view::npos) {
    place.device = segment_at(line, rdma + kRdma.size());
    place.pci = pci_before(line, rdma);
    take_file(place, line.substr(rdma + kRdma.size() + place.device.size()));
  } else if (const std::size_t net = line.find(kNet); net != std::string_view::npos) {
    place.interface = segment_at(line, net + kNet.size());
    place.pci = pci_before(line, net);
    take_file(place, line.substr(net + kNet.size() + place.interface.size()));
  } else {
    return std::nullopt;
  }
  if (place.device.empty() && place.interface.empty()) return std::nullopt;
  return place.file.empty() ? std::nullopt : std::optional(place);
}

std::string_view value_of(std::string_view rest) {
  rest = trim(rest);
  if (rest.starts_with(':') || rest.starts_with('=')) rest = trim(rest.substr(1));
  return rest;
}

void take_counter(Store& store, Port& port, std::string_view file, std::string_view value, const Line& line) {
  const std::string name(file.substr(file.find('/') + 1));
  const auto number = parse_int<std::uint64_t>(value);
  if (!number) {
    store.value(port_path(port, file), std::string(value));  // "N/A (no PMA)"
    return;
  }
  constexpr std::size_t kMost = 4096;
  if (port.counters.size() >= kMost) return store.unread(line, "more counters than a port has");
  port.counters.emplace(name, *number);
  port.lines["counter " + name] = store.evidence(line);
  store.value(port_path(port, "counter." + name), *number);
}

void take_gid_file(Store& store, Port& port, std::string_view file, std::string_view value, const Line& line) {
  const auto index = parse_int<std::int32_t>(file.substr(file.rfind('/') + 1));
  if (!index || *index < 0) return store.unread(line, "not the index of a GID");
  const auto known = std::find_if(port.gids.begin(), port.gids.end(), [&](const rdma::GidEntry& one) { return one.index == *index; });
  if (file.starts_with("gids/")) {
    const auto gid = gid_of(value);
    if (!gid) return store.unread(line, "not a GID");
    if (rdma::is_zero(*gid)) return;  // an empty entry
    if (known != port.gids.end()) {
      known->gid = *gid;
      return store.value(port_path(port, "gid[" + std::to_string(*index) + "]"), std::string(value));
    }
    rdma::GidEntry entry;
    entry.index = *index;
    entry.gid = *gid;
    return add_gid(store, port, std::move(entry), value, line);
  }
  if (file.starts_with("gid_attrs/ndevs/")) {
    if (port.netdev.empty()) set_netdev(store, port, value, line);
    return;
  }
  const std::string type = gid_type(value);
  if (type.empty()) return store.unread(line, "not the type of a GID");
  if (known != port.gids.end()) {
    known->type = type;
  } else if (port.gids.size() < 1024) {
    rdma::GidEntry entry;  // its GID may come later, or the entry is empty
    entry.index = *index;
    entry.type = type;
    port.gids.push_back(std::move(entry));
  }
  store.value(port_path(port, "gid[" + std::to_string(*index) + "].type"), type);
}

void take_of_port(Store& store, Port& port, std::string_view file, std::string_view value, const Line& line) {
  if (file == "state") return set_state(store, port, value, line);
  if (file == "phys_state") return set_physical_state(store, port, value, line);
  if (file == "link_layer") return set_link_layer(store, port, value, line);
  if (file == "rate") {
    const auto rate = rate_of(value);
    return rate ? set_rate(store, port, *rate, rate_kind(value), line) : store.unread(line, "no rate");
  }
  if (file == "lid" || file == "sm_lid") {
    const auto lid = hex_or_decimal(value);
    return lid ? set_lid(store, port, file == "sm_lid", *lid, line) : store.unread(line, "no LID");
  }
  if (file.starts_with("counters/") || file.starts_with("hw_counters/") || file.starts_with("counters_ext/")) return take_counter(store, port, file, value, line);
  if (file.starts_with("gids/") || file.starts_with("gid_attrs/")) return take_gid_file(store, port, file, value, line);
  store.value(port_path(port, file), std::string(value));
}

void take_of_interface(Store& store, Interface& interface, std::string_view file, std::string_view value, const Line& line) {
  const auto number = parse_int(value);
  if (file == "mtu" && number) return set_mtu(store, interface, *number, line);
  if (file == "speed") return number ? set_speed(store, interface, *number, line) : store.value(interface_path(interface, "speed"), std::string(value));
  if (file == "carrier" && number) {
    interface.running = *number == 1;
    return store.value(interface_path(interface, "running"), *interface.running);
  }
  if (file == "operstate") {
    std::string state(value);
    std::transform(state.begin(), state.end(), state.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return set_operstate(store, interface, state, line);
  }
  if (file == "type" && number) {
    if (*number == 1 && interface.kind == InterfaceKind::Unknown) interface.kind = InterfaceKind::Ethernet;
    if (*number == 32) interface.kind = InterfaceKind::Infiniband;
    if (*number == 772) interface.kind = InterfaceKind::Loopback;
  }
  if (file == "duplex") interface.duplex = std::string(value);
  store.value(interface_path(interface, file), number ? diagnosis::Scalar{*number} : diagnosis::Scalar{std::string(value)});
}

// The firmware and model of a device belong to all its ports; they may be read before or after.
struct Devices {
  std::map<std::string, std::pair<std::string, std::string>, std::less<>> of{};  // firmware, model
};

void take(Store& store, Devices& devices, const Place& place, std::string_view value, const Line& line) {
  if (!place.interface.empty()) {
    Interface* interface = store.interface(place.interface);
    if (!interface) return store.unread(line, "more interfaces than a machine has");
    if (interface->pci.empty()) interface->pci = std::string(place.pci);
    return take_of_interface(store, *interface, place.file, value, line);
  }
  if (place.port > 0) {
    Port* port = store.port(place.device, place.port);
    if (!port) return store.unread(line, "more ports than a machine has");
    if (port->pci.empty()) port->pci = std::string(place.pci);
    return take_of_port(store, *port, place.file, value, line);
  }
  store.value("device[" + std::string(place.device) + "]." + std::string(place.file), std::string(value));
  if (devices.of.size() > 1024) return;
  auto& [firmware, model] = devices.of[std::string(place.device)];
  if (place.file == "fw_ver") firmware = std::string(value);
  if (place.file == "board_id" || (place.file == "hca_type" && model.empty())) model = std::string(value);
}

void settle(Store& store, const Devices& devices) {
  Facts& facts = store.facts();
  for (Port& port : facts.ports) {
    if (const auto device = devices.of.find(port.device); device != devices.of.end()) {
      port.firmware = device->second.first;
      port.model = device->second.second;
    }
    std::erase_if(port.gids, [](const rdma::GidEntry& one) { return rdma::is_zero(one.gid); });
    // One interface at the port's PCI function is the port's.
    const auto here = [&](const Interface& one) { return !one.pci.empty() && one.pci == port.pci; };
    if (port.netdev.empty() && !port.pci.empty() && std::count_if(facts.interfaces.begin(), facts.interfaces.end(), here) == 1) {
      port.netdev = std::find_if(facts.interfaces.begin(), facts.interfaces.end(), here)->name;
    }
    if (port.counters.empty()) continue;
    CounterSnapshot snapshot;
    snapshot.owner = port_name(port);
    snapshot.document = store.document();
    snapshot.counters = port.counters;
    facts.snapshots.push_back(std::move(snapshot));
  }
  write_gid_choice(store);
}

bool is_json(std::string_view text) { return trim(text).starts_with('{'); }

Result<diagnosis::Reading> read_object(std::string_view text, Store& store) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return failure(ErrorCode::Invalid, json ? "not an object of paths" : "not whole JSON");
  Devices devices;
  for (const auto& item : json->items()) {
    Line line;
    const std::string value(trim(text_of(*json, item.key().c_str())));
    const std::string shown = item.key() + ": " + value;
    line.text = shown;
    line.bare = shown;
    const auto place = place_of(item.key());
    if (place) {
      take(store, devices, *place, value, line);
    } else {
      store.unread(line, "not a path of a port or an interface");
    }
  }
  settle(store, devices);
  if (store.facts().ports.empty() && store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no path of a port or an interface in it");
  return store.take();
}

}  // namespace

int likeness_sysfs(std::string_view head) {
  if (is_json(head)) return (contains(head, "/ports/") && contains(head, "/infiniband/")) || contains(head, "\"/sys/class/net/") ? 90 : 0;
  int paths = 0;
  int others = 0;
  for (const Line& line : lines_of(head)) {
    if (line.bare.empty()) continue;
    const auto place = place_of(line.bare);
    ++(place && (line.bare.starts_with('/') || line.bare.starts_with("==>") || place->port > 0) ? paths : others);
  }
  if (paths == 0) return 0;
  return others <= paths * 2 ? 90 : 25;
}

Reading read_sysfs(std::string_view text, const ReadOptions& options) {
  Store store(options);
  if (is_json(text)) return read_object(text, store);
  Devices devices;
  std::optional<Place> heading;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty() || line.bare.starts_with("grep: ") || line.bare.starts_with("cat: ") || line.bare.starts_with("tail: ") || line.bare.starts_with("head: ")) continue;
    const bool titled = line.bare.starts_with("==> ");
    const auto place = place_of(line.bare);
    if (titled) {
      heading = place;
      if (!place) store.unread(line, "not a path of a port or an interface");
    } else if (place && !value_of(place->rest).empty()) {
      take(store, devices, *place, value_of(place->rest), line);
    } else if (heading) {
      take(store, devices, *heading, line.bare, line);
      heading.reset();
    } else if (!place || place->rest.empty()) {
      store.unread(line, place ? "a path without a value" : "not a path of a port or an interface");
    }
  }
  settle(store, devices);
  if (store.facts().ports.empty() && store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no path of a port or an interface in it");
  return store.take();
}

}  // namespace verl::fabric
