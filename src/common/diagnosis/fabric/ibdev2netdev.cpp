// ibdev2netdev, plain and -v: which interface belongs to which RDMA port. Its "(Up)" and "(Down)" are the interface's, so an
// InfiniBand port without IPoIB addresses is "(Down)" and healthy; only -v says the port's own state.
#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

struct Row {
  std::string_view device{};
  std::string_view pci{};
  std::string_view state{};     // -v: "ACTIVE"
  std::string_view firmware{};  // -v
  std::string_view netdev{};    // empty: the port has none
  std::int32_t port{0};
  std::optional<bool> up{};
};

bool is_pci(std::string_view word) { return word.size() >= 7 && contains(word, ":") && contains(word, "."); }

std::string_view in_brackets(std::string_view text) {
  const std::size_t open = text.rfind('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return trim(text.substr(open + 1, close - open - 1));
}

std::optional<Row> row_of(std::string_view line) {
  const std::size_t arrow = line.find("==>");
  if (arrow == std::string_view::npos) return std::nullopt;
  Row row;
  const auto left = split_whitespace(line.substr(0, arrow));
  const std::string_view right = trim(line.substr(arrow + 3));
  std::size_t first = 0;
  if (!left.empty() && is_pci(left[0])) row.pci = left[first++];
  if (first >= left.size() || !is_name(left[first])) return std::nullopt;
  row.device = left[first];
  for (std::size_t i = first + 1; i + 1 < left.size(); ++i) {
    if (left[i] == "fw") row.firmware = left[i + 1];
    if (left[i] != "port") continue;
    const auto number = parse_int<std::int32_t>(left[i + 1]);
    if (!number || *number < 0) return std::nullopt;
    row.port = *number;
    if (i + 2 < left.size()) row.state = in_brackets(line.substr(static_cast<std::size_t>(left[i + 1].data() - line.data()), arrow - static_cast<std::size_t>(left[i + 1].data() - line.data())));
  }
  if (row.port == 0) return std::nullopt;
  const std::string_view word = in_brackets(right);
  if (word == "Up") row.up = true;
  if (word == "Down") row.up = false;
  row.netdev = trim(right.substr(0, right.find('(')));
  if (!row.netdev.empty() && !is_name(row.netdev)) return std::nullopt;
  return row;
}

}  // namespace

int likeness_ibdev2netdev(std::string_view head) {
  int rows = 0;
  int others = 0;
  for (const Line& line : lines_of(head)) {
    if (line.bare.empty()) continue;
    ++(row_of(line.bare) ? rows : others);
  }
  if (rows == 0) return 0;
  return others <= rows ? 95 : 40;
}

Reading read_ibdev2netdev(std::string_view text, const ReadOptions& options) {
  Store store(options);
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    const auto row = row_of(line.bare);
    Port* port = row ? store.port(row->device, row->port) : nullptr;
    if (!port) {
      store.unread(line, row ? "more ports than a machine has" : "not a row DEVICE port N ==> INTERFACE (Up|Down)");
      continue;
    }
    if (!row->netdev.empty()) {
      set_netdev(store, *port, row->netdev, line);
      Interface* interface = store.interface(row->netdev);
      if (interface && row->up) {
        interface->running = row->up;
        interface->lines["running"] = store.evidence(line);
      }
    }
    if (row->up) {
      port->netdev_up = row->up;
      store.value(port_path(*port, "netdev_up"), *row->up);
    }
    if (!row->state.empty()) set_state(store, *port, row->state, line);
    if (!row->pci.empty()) {
      port->pci = std::string(row->pci);
      store.value(port_path(*port, "pci"), port->pci);
    }
    if (!row->firmware.empty()) {
      port->firmware = std::string(row->firmware);
      store.value(port_path(*port, "firmware"), port->firmware);
    }
  }
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no row DEVICE port N ==> INTERFACE in it");
  return store.take();
}

}  // namespace verl::fabric
