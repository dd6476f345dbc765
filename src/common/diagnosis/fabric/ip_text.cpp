// ip address and ip link as text: brief (-br), full, one line each (-o), with details (-d) and statistics (-s).
#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "diagnosis/fabric/ip_words.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/readers.h"

namespace verl::fabric {
namespace {

using Words = std::vector<std::string_view>;

std::string_view without_peer(std::string_view name) { return name.substr(0, name.find('@')); }

bool is_mac(std::string_view word) {
  return word.size() >= 17 && word.size() % 3 == 2 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0 || c == ':'; }) &&
         word[2] == ':' && word[5] == ':';
}

bool is_address(std::string_view word) {
  if (is_mac(word)) return false;
  const std::string_view host = word.substr(0, word.find('/'));
  const bool signs = std::all_of(host.begin(), host.end(), [](unsigned char c) { return std::isxdigit(c) != 0 || c == '.' || c == ':'; });
  return signs && host.size() >= 2 && (contains(host, ".") || contains(host, ":"));
}

Words flags_of(std::string_view word) {
  Words flags;
  if (word.size() < 2 || word.front() != '<' || word.back() != '>') return flags;
  for (const std::string_view flag : split(word.substr(1, word.size() - 2), ',')) flags.push_back(flag);
  return flags;
}

bool is_brief(const Words& words) { return words.size() >= 2 && is_operstate(words[1]) && is_name(words[0]); }

// "2: eth0@if7: <BROADCAST,UP> mtu 1500 ..." or, with -o, "2: eth0    inet 192.0.2.1/24 ...".
bool is_numbered(const Words& words) {
  return words.size() >= 3 && words[0].ends_with(':') && parse_int(words[0].substr(0, words[0].size() - 1)).has_value() &&
         (words[2].starts_with('<') || words[2] == "inet" || words[2] == "inet6");
}

void take_brief(Store& store, const Words& words, const Line& line) {
  Interface* interface = store.interface(without_peer(words[0]));
  if (!interface) return store.unread(line, "more interfaces than a machine has");
  if (words[0] == "lo") interface->kind = InterfaceKind::Loopback;
  for (const std::string_view word : words) {
    if (const Words flags = flags_of(word); !flags.empty()) set_flags(store, *interface, flags, line);
  }
  set_operstate(store, *interface, words[1], line);
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (words[i] == "peer" || words[i] == "metric") {
      ++i;  // what follows is no address of this interface
    } else if (is_address(words[i])) {
      add_address(store, *interface, words[i], line);
    } else if (is_mac(words[i])) {
      store.value(interface_path(*interface, "mac"), std::string(words[i]));
    } else if (!words[i].starts_with('<')) {
      store.unread(line, "neither an address nor flags: " + shorten(words[i], 40));
    }
  }
}

// The words after the flags come in pairs; a word that is not known takes nothing with it.
void take_header(Store& store, Interface& interface, const Words& words, const Line& line) {
  set_flags(store, interface, flags_of(words[2]), line);
  for (std::size_t i = 3; i + 1 < words.size(); ++i) {
    if (words[i] == "mtu") {
      if (const auto mtu = parse_int(words[i + 1])) set_mtu(store, interface, *mtu, line);
    } else if (words[i] == "state") {
      set_operstate(store, interface, words[i + 1], line);
    } else if (words[i] == "master") {
      set_master(store, interface, words[i + 1], line);
    }
  }
}

// Known first words of indented lines that say nothing we judge; the numbers of -s stand below "RX:" and "TX:".
constexpr std::array<std::string_view, 20> kQuiet{"valid_lft", "altname", "alias",  "permaddr", "RX:",     "TX:",        "vf",           "bond_slave", "bridge_slave", "promiscuity",
                                                  "prog/xdp",  "xdp",     "noqueue", "maxmtu",  "vlan_protocol", "RX", "TX", "parentbus", "hsr", "macsec"};

bool take_detail(Store& store, Interface& interface, std::string_view part, const Line& line) {
  const Words words = split_whitespace(part);
  if (words.empty()) return true;
  if (words[0].starts_with("link/")) {
    set_link_type(interface, words[0].substr(5));
    if (words.size() > 1 && is_mac(words[1])) store.value(interface_path(interface, "mac"), std::string(words[1]));
    return true;
  }
  if ((words[0] == "inet" || words[0] == "inet6") && words.size() > 1 && is_address(words[1])) {
    add_address(store, interface, words[1], line);
    return true;
  }
  constexpr std::array<std::string_view, 18> kKinds{"bond", "bridge", "vlan", "veth", "vxlan",     "geneve",  "gre",     "gretap", "ipip",
                                                    "sit",  "tun",    "dummy", "ifb", "wireguard", "macvlan", "ipvlan", "vrf",    "ipoib"};
  if (std::find(kKinds.begin(), kKinds.end(), words[0]) != kKinds.end()) {
    set_kind(interface, words[0]);
    return true;
  }
  if (std::find(kQuiet.begin(), kQuiet.end(), words[0]) != kQuiet.end()) return true;
  return std::all_of(words.begin(), words.end(), [](std::string_view word) { return parse_int<std::uint64_t>(word).has_value(); });
}

}  // namespace

int likeness_ip_text(std::string_view head) {
  int full = 0;
  int brief = 0;
  int others = 0;
  for (const Line& line : lines_of(head)) {
    if (line.bare.empty()) continue;
    const Words words = split_whitespace(line.bare);
    if (is_numbered(words)) {
      ++full;
    } else if (is_brief(words)) {
      ++brief;
    } else if (full == 0) {
      ++others;
    }
  }
  if (full > 0) return others > full * 2 ? 30 : 92;
  if (brief > 0) return others > brief ? 25 : 85;
  return 0;
}

Reading read_ip_text(std::string_view text, const ReadOptions& options) {
  Store store(options);
  Interface* current = nullptr;
  for (const Line& line : lines_of(text, options.strip_comment_prefix)) {
    if (line.bare.empty()) continue;
    const auto parts = split(line.bare, '\\');
    const Words words = split_whitespace(parts[0]);
    if (is_numbered(words)) {
      std::string_view name = words[1];
      if (name.ends_with(':')) name.remove_suffix(1);
      current = store.interface(without_peer(name));
      if (!current) {
        store.unread(line, "more interfaces than a machine has");
        continue;
      }
      if (words[2].starts_with('<')) {
        take_header(store, *current, words, line);
      } else if (words.size() > 3 && is_address(words[3])) {
        add_address(store, *current, words[3], line);
      } else {
        store.unread(line, "no address");
      }
    } else if (is_brief(words)) {
      current = nullptr;  // a brief line has no details, and it may move what the pointer points to
      take_brief(store, words, line);
      continue;
    } else if (!current || !take_detail(store, *current, parts[0], line)) {
      store.unread(line, "not a line of ip address or ip link");
      continue;
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (!take_detail(store, *current, parts[i], line)) store.unread(line, "not read: " + shorten(trim(parts[i]), 60));
    }
  }
  if (store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no interface in it");
  return store.take();
}

}  // namespace verl::fabric
