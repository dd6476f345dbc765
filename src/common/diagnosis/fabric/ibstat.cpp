// ibstat, whole or of one port. The rate of a port that is down is a default; base lid 65535 is none.
#include <cctype>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

struct Adapter {
  std::string device{};
  std::string firmware{};
  std::string model{};
  std::int64_t ports_said{-1};
  std::int64_t ports_seen{0};
  Line line{};
};

// "CA 'mlx5_0'" or, when a port was asked for, "CA: 'mlx5_0'".
bool is_adapter(std::string_view line) { return (line.starts_with("CA '") || line.starts_with("CA: '")) && !quoted(line).empty(); }

std::optional<std::int32_t> port_number(std::string_view line) {
  if (!line.starts_with("Port ") || !line.ends_with(':')) return std::nullopt;
  return parse_int<std::int32_t>(trim(line.substr(5, line.size() - 6)));
}

std::string snake(std::string_view key) {
  std::string name;
  for (const char c : key) name += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

void close_adapter(Store& store, const Adapter& at) {
  if (at.ports_said < 0 || at.ports_seen >= at.ports_said) return;
  store.incomplete(at.device, at.device + " says " + std::to_string(at.ports_said) + " ports, the text shows " + std::to_string(at.ports_seen), at.line);
}

void take_of_port(Store& store, Port& port, const KeyValue& pair, const Line& line) {
  if (pair.key == "State") return set_state(store, port, pair.value, line);
  if (pair.key == "Physical state") return set_physical_state(store, port, pair.value, line);
  if (pair.key == "Link layer") return set_link_layer(store, port, pair.value, line);
  if (pair.key == "Rate") {
    const auto words = split_whitespace(pair.value);
    const auto rate = words.empty() ? std::nullopt : parse_double(words[0]);
    return rate ? set_rate(store, port, *rate, rate_kind(pair.value), line) : store.unread(line, "no rate");
  }
  if (pair.key == "Base lid" || pair.key == "SM lid") {
    const auto lid = hex_or_decimal(pair.value);
    return lid ? set_lid(store, port, pair.key == "SM lid", *lid, line) : store.unread(line, "no LID");
  }
  store.value(port_path(port, snake(pair.key)), std::string(pair.value));
}

}  // namespace

int likeness_ibstat(std::string_view head) {
  bool adapter = false;
  bool port = false;
  for (const Line& line : lines_of(head)) {
    adapter = adapter || is_adapter(line.bare);
    port = port || line.bare.starts_with("Physical state:") || port_number(line.bare).has_value();
  }
  return adapter ? (port ? 97 : 70) : 0;
}

Reading read_ibstat(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Adapter at;
  Port* port = nullptr;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    if (is_adapter(line.bare)) {
      close_adapter(store, at);
      at = Adapter{};
      at.device = std::string(quoted(line.bare));
      at.line = line;
      port = nullptr;
      continue;
    }
    if (const auto number = port_number(line.bare)) {
      port = *number >= 0 ? store.port(at.device, *number) : nullptr;
      if (!port) {
        store.unread(line, "a port of no adapter");
        continue;
      }
      ++at.ports_seen;
      if (port->firmware.empty()) port->firmware = at.firmware;
      if (port->model.empty()) port->model = at.model;
      continue;
    }
    const auto pair = key_value(line.bare);
    if (!pair || at.device.empty()) {
      store.unread(line, pair ? "before the first CA" : "not KEY: VALUE");
      continue;
    }
    if (port) {
      take_of_port(store, *port, *pair, line);
      continue;
    }
    if (pair->key == "Firmware version") at.firmware = std::string(pair->value);
    if (pair->key == "CA type") at.model = std::string(pair->value);
    const auto number = parse_int(pair->value);
    if (pair->key == "Number of ports") at.ports_said = number.value_or(-1);
    store.value("device[" + at.device + "]." + snake(pair->key), number ? diagnosis::Scalar{*number} : diagnosis::Scalar{std::string(pair->value)});
  }
  close_adapter(store, at);
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no port of a CA in it");
  return store.take();
}

}  // namespace verl::fabric
