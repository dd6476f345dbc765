// ethtool without options (speed, duplex, link) and with -i (driver and firmware). -S is in ethtool_statistics.cpp.
#include <algorithm>
#include <cctype>
#include <array>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"
#include "diagnosis/fabric/store.h"

namespace verl::fabric {
namespace {

std::string snake(std::string_view key) {
  std::string name;
  for (const char c : key) name += c == ' ' || c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

std::string_view settings_of(std::string_view line) {
  constexpr std::string_view kHeading = "Settings for ";
  if (!line.starts_with(kHeading) || !line.ends_with(':')) return {};
  return trim(line.substr(kHeading.size(), line.size() - kHeading.size() - 1));
}

// Link modes go on below their key: "40000baseKR4/Full", "10baseT/Half 10baseT/Full", "RS BASER".
bool is_continuation(std::string_view line) { return contains(line, "base") || contains(line, "/Full") || contains(line, "/Half") || !contains(line, " "); }

void take_setting(Store& store, Interface& interface, const KeyValue& pair, const Line& line) {
  if (pair.key == "Speed") {
    const std::size_t unit = pair.value.find("Mb/s");
    const auto speed = unit == std::string_view::npos ? std::nullopt : parse_int(trim(pair.value.substr(0, unit)));
    if (speed) return set_speed(store, interface, *speed, line);
  }
  if (pair.key == "Duplex") interface.duplex = std::string(pair.value);
  if (pair.key == "Link detected") {
    interface.running = pair.value.starts_with("yes");
    interface.lines["running"] = store.evidence(line);
    store.value(interface_path(interface, "running"), *interface.running);
  }
  store.value(interface_path(interface, snake(pair.key)), std::string(pair.value));
}

constexpr std::array<std::string_view, 10> kDriverKeys{"driver",        "version",       "firmware-version",       "expansion-rom-version",  "bus-info", "supports-statistics",
                                                       "supports-test", "supports-eeprom-access", "supports-register-dump", "supports-priv-flags"};

bool is_driver_key(std::string_view key) { return std::find(kDriverKeys.begin(), kDriverKeys.end(), key) != kDriverKeys.end(); }

}  // namespace

int likeness_ethtool_settings(std::string_view head) {
  for (const Line& line : lines_of(head)) {
    if (!settings_of(line.bare).empty()) return 97;
  }
  return 0;
}

Reading read_ethtool_settings(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Interface* interface = nullptr;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    if (const std::string_view name = settings_of(line.bare); !name.empty()) {
      interface = store.interface(name);
      if (!interface) store.unread(line, "more interfaces than a machine has");
      continue;
    }
    const auto pair = key_value(line.bare);
    if (!interface || line.bare.starts_with("netlink error") || line.bare.starts_with("Cannot get")) {
      store.unread(line, interface ? "the tool was refused" : "of no interface");
    } else if (pair) {
      take_setting(store, *interface, *pair, line);
    } else if (!is_continuation(line.bare)) {
      if (!contains(line.bare, "drv probe")) store.unread(line, "not KEY: VALUE");
    }
  }
  if (store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no \"Settings for INTERFACE:\" in it");
  return store.take();
}

int likeness_ethtool_driver(std::string_view head) {
  int known = 0;
  bool driver = false;
  for (const Line& line : lines_of(head)) {
    const auto pair = key_value(line.bare);
    if (!pair || !is_driver_key(pair->key)) continue;
    ++known;
    driver = driver || pair->key == "driver";
  }
  return driver && known >= 3 ? 95 : 0;
}

Reading read_ethtool_driver(std::string_view text, const ReadOptions& options) {
  Store store(options);
  bool driver = false;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    const auto pair = key_value(line.bare);
    if (!pair || !is_driver_key(pair->key)) {
      store.unread(line, "not a key of ethtool -i");
      continue;
    }
    driver = driver || pair->key == "driver";
    store.value("driver." + (pair->key == "driver" ? std::string("name") : snake(pair->key)), std::string(pair->value));
  }
  if (!driver) return failure(ErrorCode::Invalid, "no driver in it");
  return store.take();
}

}  // namespace verl::fabric
