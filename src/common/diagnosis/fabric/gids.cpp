// Tables with a GID a row: show_gids, with tabs or blanks, and what vendors' tools print. The GID is found first; what stands
// left of it names device, port and index, what stands right of it is told by its shape, so empty cells shift nothing.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "diagnosis/fabric/gid_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

struct Row {
  std::string_view device{};
  std::string_view netdev{};
  std::int32_t port{0};
  rdma::GidEntry entry{};
  std::string_view printed{};
  std::optional<bool> up{};
};

bool is_ipv4_text(std::string_view word) {
  return std::count(word.begin(), word.end(), '.') == 3 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
}

std::optional<Row> row_of(std::string_view line) {
  const auto words = split_whitespace(line);
  std::size_t at = 0;
  while (at < words.size() && at < 8 && !gid_of(words[at])) ++at;
  if (at >= words.size() || at < 3 || at > 4) return std::nullopt;
  Row row;
  const auto port = parse_int<std::int32_t>(words[at - 2]);
  const auto index = parse_int<std::int32_t>(words[at - 1]);
  if (!port || !index || *port < 0 || *index < 0 || !is_name(words[0])) return std::nullopt;
  row.device = words[0];
  if (at == 4) row.netdev = words[1];
  row.port = *port;
  row.entry.index = *index;
  row.entry.gid = *gid_of(words[at]);
  row.printed = words[at];
  for (std::size_t i = at + 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string two = i + 1 < words.size() ? std::string(word) + " " + std::string(words[i + 1]) : std::string();
    if (const std::string type = gid_type(word); !type.empty() && row.entry.type.empty()) {
      row.entry.type = type;
    } else if (const std::string named = gid_type(two); !named.empty() && row.entry.type.empty()) {
      row.entry.type = named;
      ++i;
    } else if (word == "up" || word == "down" || word == "UP" || word == "DOWN") {
      row.up = word == "up" || word == "UP";
    } else if (is_ipv4_text(word) || gid_of(word)) {
      continue;  // the address is in the GID
    } else if (row.netdev.empty() && is_name(word)) {
      row.netdev = word;
    } else {
      return std::nullopt;
    }
  }
  return row;
}

bool has_word(const std::vector<std::string_view>& words, std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); }

bool is_show_gids_heading(std::string_view line) {
  const auto words = split_whitespace(line);
  return has_word(words, "DEV") && has_word(words, "PORT") && has_word(words, "INDEX") && has_word(words, "GID");
}

bool is_heading(std::string_view line) {
  if (is_show_gids_heading(line)) return true;
  const auto words = split_whitespace(line);
  return (has_word(words, "gid") || has_word(words, "GID")) && words.size() >= 4;
}

bool is_rule(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) { return c == '-' || c == '=' || c == '+' || c == '|' || c == ' ' || c == '\t'; });
}

int rows_in(std::string_view head) {
  int rows = 0;
  for (const Line& line : lines_of(head)) rows += row_of(line.bare) ? 1 : 0;
  return rows;
}

// InfiniBand GIDs have no RoCE version and no interface: show_gids prints "v1" for them all the same.
void settle_layers(Store& store) {
  for (Port& port : store.facts().ports) {
    const bool roce = !port.netdev.empty() || std::any_of(port.gids.begin(), port.gids.end(), [](const rdma::GidEntry& one) { return one.type == "RoCE v2"; });
    if (roce) {
      port.link_layer = LinkLayer::Ethernet;
    } else if (!port.gids.empty()) {
      port.link_layer = LinkLayer::Infiniband;
    }
    if (port.link_layer != LinkLayer::Unknown) store.value(port_path(port, "link_layer"), std::string(roce ? "Ethernet" : "InfiniBand"));
  }
}

Reading read(std::string_view text, const ReadOptions& options) {
  Store store(options);
  std::int64_t rows = 0;
  Line last;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty() || is_rule(line.bare)) continue;
    last = line;
    if (line.bare.starts_with("n_gids_found=")) {
      const auto said = parse_int(trim(line.bare.substr(13)));
      if (!said || *said != rows) {
        store.incomplete("gids", "the tool found " + std::string(trim(line.bare.substr(13))) + " GIDs, " + std::to_string(rows) + " rows could be read", line);
      }
      continue;
    }
    const auto row = row_of(line.bare);
    Port* port = row ? store.port(row->device, row->port) : nullptr;
    if (!port) {
      if (!is_heading(line.bare)) store.unread(line, "not a row with device, port, index and GID");
      continue;
    }
    ++rows;
    if (!row->netdev.empty() && port->netdev.empty()) set_netdev(store, *port, row->netdev, line);
    if (row->up) {
      port->netdev_up = row->up;
      store.value(port_path(*port, "link_up"), *row->up);
    }
    add_gid(store, *port, row->entry, row->printed, line);
  }
  store.value("gids.count", rows);
  if (rows == 0) return failure(ErrorCode::Invalid, "no row with device, port, index and GID in it");
  settle_layers(store);
  write_gid_choice(store);
  return store.take();
}

}  // namespace

int likeness_show_gids(std::string_view head) {
  for (const Line& line : lines_of(head)) {
    if (is_show_gids_heading(line.bare)) return 96;
  }
  return rows_in(head) > 0 ? 50 : 0;
}

int likeness_vendor_gids(std::string_view head) {
  for (const Line& line : lines_of(head)) {
    if (is_show_gids_heading(line.bare)) return 0;
    if (is_heading(line.bare)) return rows_in(head) > 0 ? 90 : 0;
  }
  return 0;
}

Reading read_show_gids(std::string_view text, const ReadOptions& options) { return read(text, options); }
Reading read_vendor_gids(std::string_view text, const ReadOptions& options) { return read(text, options); }

}  // namespace verl::fabric
