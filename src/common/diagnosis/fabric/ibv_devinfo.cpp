// ibv_devinfo, short and -v: the only tool that says active_mtu. Keys decide, not indentation.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/fabric/gid_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

struct Cursor {
  std::string device{};
  Port* port{nullptr};
  std::string firmware{};
  std::string model{};
  std::int64_t ports_said{-1};
  std::int64_t ports_seen{0};
  std::optional<double> lanes{};
  Line line{};  // of hca_id
};

std::optional<std::int64_t> leading_number(std::string_view value) {
  const auto words = split_whitespace(value);
  return words.empty() ? std::nullopt : hex_or_decimal(words[0]);
}

void close_device(Store& store, const Cursor& at) {
  if (at.device.empty()) return;
  if (at.ports_said >= 0 && at.ports_seen < at.ports_said) {
    store.incomplete(at.device, at.device + " says " + std::to_string(at.ports_said) + " ports, the text shows " + std::to_string(at.ports_seen), at.line);
  }
}

// "1024 (3)" in bytes; 1 to 5 stand for 256 to 4096 where only the enumeration is printed.
std::optional<std::int32_t> mtu_of(std::string_view value) {
  const auto number = leading_number(value);
  if (!number) return std::nullopt;
  constexpr std::array<std::int32_t, 5> kSteps{256, 512, 1024, 2048, 4096};
  if (*number >= 1 && *number <= 5) return kSteps[static_cast<std::size_t>(*number - 1)];
  const auto step = std::find(kSteps.begin(), kSteps.end(), *number);
  if (step == kSteps.end()) return std::nullopt;
  return *step;
}

// "4X (2)": 4; "25.0 Gbps (32)": of one lane.
void take_speed(Store& store, Cursor& at, const KeyValue& pair, const Line& line) {
  const auto words = split_whitespace(pair.value);
  if (words.empty()) return;
  if (pair.key == "active_width") {
    at.lanes = words[0].ends_with('X') ? parse_double(words[0].substr(0, words[0].size() - 1)) : std::nullopt;
    return;
  }
  const auto lane = parse_double(words[0]);
  if (!lane || !at.lanes || words.size() < 2 || !words[1].starts_with("Gb")) return;
  set_rate(store, *at.port, *lane * *at.lanes, {}, line);
}

void take_gid(Store& store, Cursor& at, const KeyValue& pair, const Line& line) {
  const std::size_t open = pair.key.find('[');
  const std::size_t close = pair.key.find(']');
  const auto index = close == std::string_view::npos || close < open ? std::nullopt : parse_int<std::int32_t>(trim(pair.key.substr(open + 1, close - open - 1)));
  const std::size_t comma = pair.value.find(',');
  const auto gid = gid_of(pair.value.substr(0, comma));
  if (!index || !gid) {
    store.unread(line, "not a GID");
    return;
  }
  rdma::GidEntry entry;
  entry.index = *index;
  entry.gid = *gid;
  entry.type = comma == std::string_view::npos ? "" : gid_type(pair.value.substr(comma + 1));
  add_gid(store, *at.port, std::move(entry), pair.value.substr(0, comma), line);
}

void take_of_port(Store& store, Cursor& at, const KeyValue& pair, const Line& line) {
  Port& port = *at.port;
  if (pair.key == "state") return set_state(store, port, pair.value, line);
  if (pair.key == "phys_state") return set_physical_state(store, port, pair.value, line);
  if (pair.key == "link_layer") return set_link_layer(store, port, pair.value, line);
  if (pair.key == "active_width" || pair.key == "active_speed") return take_speed(store, at, pair, line);
  if (pair.key.starts_with("GID[")) return take_gid(store, at, pair, line);
  if (pair.key == "max_mtu" || pair.key == "active_mtu") {
    const auto mtu = mtu_of(pair.value);
    if (!mtu) return store.unread(line, "not an MTU of RDMA");
    (pair.key == "max_mtu" ? port.max_mtu : port.active_mtu) = mtu;
    port.lines[std::string(pair.key)] = store.evidence(line);
    return store.value(port_path(port, pair.key), std::int64_t{*mtu}, "B");
  }
  if (pair.key == "port_lid" || pair.key == "sm_lid") {
    const auto lid = leading_number(pair.value);
    return lid ? set_lid(store, port, pair.key == "sm_lid", *lid, line) : store.unread(line, "not a LID");
  }
  store.value(port_path(port, pair.key), std::string(pair.value));
}

}  // namespace

int likeness_ibv_devinfo(std::string_view head) {
  bool device = false;
  bool key = false;
  for (const Line& line : lines_of(head)) {
    if (line.bare.starts_with("hca_id:")) device = true;
    key = key || line.bare.starts_with("transport:") || line.bare.starts_with("phys_port_cnt:") || line.bare.starts_with("active_mtu:");
  }
  if (device) return key ? 97 : 60;
  return 0;
}

Reading read_ibv_devinfo(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Cursor at;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    const auto pair = key_value(line.bare);
    if (!pair) {
      if (!contains(line.bare, "HCA")) store.unread(line, "not KEY: VALUE");
      continue;
    }
    if (pair->key == "hca_id") {
      close_device(store, at);
      at = Cursor{};
      at.line = line;
      if (is_name(pair->value)) at.device = std::string(pair->value);
      if (at.device.empty()) store.unread(line, "not the name of a device");
      continue;
    }
    if (at.device.empty()) {
      store.unread(line, "before the first hca_id");
      continue;
    }
    if (pair->key == "port") {
      const auto number = parse_int<std::int32_t>(pair->value);
      at.port = number && *number >= 0 ? store.port(at.device, *number) : nullptr;
      at.lanes.reset();
      if (!at.port) {
        store.unread(line, "not a port");
        continue;
      }
      ++at.ports_seen;
      at.port->firmware = at.firmware;
      at.port->model = at.model;
      continue;
    }
    if (at.port) {
      take_of_port(store, at, *pair, line);
      continue;
    }
    if (pair->key == "fw_ver") at.firmware = std::string(pair->value);
    if (pair->key == "board_id" || (pair->key == "vendor_part_id" && at.model.empty())) at.model = std::string(pair->value);
    if (pair->key == "phys_port_cnt") at.ports_said = parse_int(pair->value).value_or(-1);
    const auto number = parse_int(pair->value);
    store.value("device[" + at.device + "]." + std::string(pair->key), number ? diagnosis::Scalar{*number} : diagnosis::Scalar{std::string(pair->value)});
  }
  close_device(store, at);
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no port of an hca_id in it");
  return store.take();
}

}  // namespace verl::fabric
