// ibstatus: the same sysfs files as a flat dump, with other keys than ibstat.
#include "base/text.h"
#include "diagnosis/fabric/gid_text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

bool is_heading(std::string_view line) { return line.starts_with("Infiniband device '") && contains(line, "' port "); }

std::optional<std::int32_t> port_of_heading(std::string_view line) {
  const auto words = split_whitespace(line.substr(line.find("' port ") + 2));
  return words.size() < 2 ? std::nullopt : parse_int<std::int32_t>(words[1]);
}

void take(Store& store, Port& port, const KeyValue& pair, const Line& line) {
  if (pair.key == "state") return set_state(store, port, pair.value, line);
  if (pair.key == "phys state") return set_physical_state(store, port, pair.value, line);
  if (pair.key == "link_layer") return set_link_layer(store, port, pair.value, line);
  if (pair.key == "rate") {
    const auto rate = rate_of(pair.value);
    return rate ? set_rate(store, port, *rate, rate_kind(pair.value), line) : store.unread(line, "no rate");
  }
  if (pair.key == "base lid" || pair.key == "sm lid") {
    const auto lid = hex_or_decimal(pair.value);
    return lid ? set_lid(store, port, pair.key == "sm lid", *lid, line) : store.unread(line, "no LID");
  }
  store.value(port_path(port, pair.key == "default gid" ? "default_gid" : pair.key), std::string(pair.value));
}

}  // namespace

int likeness_ibstatus(std::string_view head) {
  for (const Line& line : lines_of(head)) {
    if (is_heading(line.bare)) return 97;
  }
  return 0;
}

Reading read_ibstatus(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Port* port = nullptr;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    if (is_heading(line.bare)) {
      const auto number = port_of_heading(line.bare);
      port = number ? store.port(quoted(line.bare), *number) : nullptr;
      if (!port) store.unread(line, "no device and port");
      continue;
    }
    const auto pair = key_value(line.bare);
    if (!pair || !port) {
      store.unread(line, pair ? "of no port" : "not KEY: VALUE");
      continue;
    }
    take(store, *port, *pair, line);
  }
  if (store.facts().ports.empty()) return failure(ErrorCode::Invalid, "no port in it");
  return store.take();
}

}  // namespace verl::fabric
