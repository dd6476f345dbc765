// rdma link, rdma dev and rdma statistic of iproute2, as text and as JSON.
#include "base/text.h"
#include "diagnosis/fabric/json_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"

namespace verl::fabric {
namespace {

using Words = std::vector<std::string_view>;

struct Owner {
  std::string_view device{};
  std::optional<std::int32_t> port{};  // "mlx5_0/-" is the device itself
  std::size_t next{0};                 // first word of what is said about it
};

// "link mlx5_0/1 state ...", "8/1: mlx5_0/1: state ...", "0: mlx5_0: node_type ca ...".
std::optional<Owner> owner_of(const Words& words) {
  if (words.size() < 3) return std::nullopt;
  std::string_view name = words[1];
  if (name.ends_with(':')) name.remove_suffix(1);
  const bool link = words[0] == "link" || words[0] == "dev";
  const bool numbered = words[0].ends_with(':') && parse_int(words[0].substr(0, words[0].find_first_of("/:"))).has_value();
  if (!link && !numbered) return std::nullopt;
  Owner owner;
  owner.next = 2;
  const std::size_t slash = name.find('/');
  owner.device = name.substr(0, slash);
  if (slash != std::string_view::npos) owner.port = parse_int<std::int32_t>(name.substr(slash + 1));
  if (!is_name(owner.device)) return std::nullopt;
  return owner;
}

bool is_rdma_row(const Words& words) {
  const auto owner = owner_of(words);
  if (!owner) return false;
  if (owner->port) return words[0] == "link" || words[2] == "state" || words[2] == "subnet_prefix" || words[2] == "physical_state";
  return words[2] == "node_type" || (words[0] == "dev" && words.size() > 4);
}

void take_pair(Store& store, Port& port, std::string_view key, std::string_view value, CounterSnapshot& counters, const Line& line) {
  if (key == "state") return set_state(store, port, value, line);
  if (key == "physical_state") return set_physical_state(store, port, value, line);
  if (key == "netdev") return set_netdev(store, port, value, line);
  if (key == "lid" || key == "sm_lid") {
    const auto lid = hex_or_decimal(value);
    port.link_layer = LinkLayer::Infiniband;  // iproute2 prints LIDs for InfiniBand alone
    return lid ? set_lid(store, port, key == "sm_lid", *lid, line) : store.unread(line, "no LID");
  }
  if (key == "fw") {
    port.firmware = std::string(value);
    return store.value(port_path(port, "firmware"), port.firmware);
  }
  const auto number = parse_int<std::uint64_t>(value);
  constexpr std::size_t kMost = 4096;
  if (number && port.counters.size() < kMost && key != "netdev_index" && key != "lmc" && key != "ifindex") {
    port.counters.emplace(key, *number);
    counters.counters.emplace(key, *number);
  }
  store.value(port_path(port, key), number ? diagnosis::Scalar{*number} : diagnosis::Scalar{std::string(value)});
}

void add(Store& store, const Port& port, CounterSnapshot counters) {
  constexpr std::size_t kMost = 4096;
  if (counters.counters.empty() || store.facts().snapshots.size() >= kMost) return;
  counters.owner = port_name(port);
  counters.document = store.document();
  store.facts().snapshots.push_back(std::move(counters));
}

}  // namespace

int likeness_rdma_text(std::string_view head) {
  int rows = 0;
  int others = 0;
  for (const Line& line : lines_of(head)) {
    if (line.bare.empty()) continue;
    ++(is_rdma_row(split_whitespace(line.bare)) ? rows : others);
  }
  if (rows == 0) return 0;
  return others <= rows * 4 ? 94 : 30;
}

Reading read_rdma_text(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Port* port = nullptr;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    const Words words = split_whitespace(line.bare);
    const auto owner = owner_of(words);
    if (!owner) {
      if (!port || !(line.bare.starts_with("caps:") || line.bare.starts_with('<'))) store.unread(line, "not a row of rdma link");
      continue;
    }
    port = store.port(owner->device, owner->port.value_or(1));
    if (!port) {
      store.unread(line, "more ports than a machine has");
      continue;
    }
    CounterSnapshot counters;
    for (std::size_t i = owner->next; i + 1 < words.size(); i += 2) take_pair(store, *port, words[i], words[i + 1], counters, line);
    add(store, *port, std::move(counters));
  }
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no row of rdma link in it");
  return store.take();
}

int likeness_rdma_json(std::string_view head) {
  const std::string_view bare = trim(head);
  if (!bare.starts_with('[') || !contains(bare, "\"ifname\"") || contains(bare, "\"addr_info\"") || contains(bare, "\"operstate\"")) return 0;
  return contains(bare, "\"physical_state\"") || contains(bare, "\"node_guid\"") || contains(bare, "\"port\"") ? 97 : 0;
}

Reading read_rdma_json(std::string_view text, const ReadOptions& options) {
  const auto json = parse_json(text);
  if (!json || !json->is_array()) return failure(ErrorCode::Invalid, json ? "not a list of links" : "not whole JSON");
  Store store(options);
  std::int64_t skipped = 0;
  for (const Json& object : *json) {
    if (object.is_object() && object.empty()) continue;
    const std::string device = text_of(object, "ifname");
    const auto number = integer_of(object, "port");
    Port* port = device.empty() ? nullptr : store.port(device, static_cast<std::int32_t>(number && *number > 0 && *number < 256 ? *number : 1));
    if (!port) {
      ++skipped;
      continue;
    }
    CounterSnapshot counters;
    for (const auto& item : object.items()) {
      const std::string value = text_of(object, item.key().c_str());
      if (item.key() != "ifname" && item.key() != "port" && !value.empty()) take_pair(store, *port, item.key(), value, counters, {});
    }
    add(store, *port, std::move(counters));
  }
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no link in it");
  if (skipped > 0) store.incomplete("links", std::to_string(skipped) + " entries without the name of a device", {});
  return store.take();
}

}  // namespace verl::fabric
