// ip -j address, ip -j link and ip -j -d link.
#include "diagnosis/fabric/ip_words.h"
#include "diagnosis/fabric/json_text.h"
#include "diagnosis/fabric/readers.h"

namespace verl::fabric {

bool take_ip_object(Store& store, const Json& object) {
  const std::string name = text_of(object, "ifname");
  Interface* interface = name.empty() ? nullptr : store.interface(name);
  if (!interface) return false;
  const Line nowhere{};
  if (const Json* flags = member(object, "flags"); flags && flags->is_array()) {
    std::vector<std::string> names;
    for (const Json& flag : *flags) {
      if (flag.is_string()) names.push_back(flag.get<std::string>());
    }
    set_flags(store, *interface, std::vector<std::string_view>(names.begin(), names.end()), nowhere);
  }
  if (const std::string state = text_of(object, "operstate"); !state.empty()) set_operstate(store, *interface, state, nowhere);
  if (const auto mtu = integer_of(object, "mtu")) set_mtu(store, *interface, *mtu, nowhere);
  // iproute2 says "master"; tools that clean up words say "main".
  for (const char* key : {"master", "main"}) {
    if (const std::string master = text_of(object, key); !master.empty() && interface->master.empty()) set_master(store, *interface, master, nowhere);
  }
  set_link_type(*interface, text_of(object, "link_type"));
  if (const Json* detail = member(object, "linkinfo")) set_kind(*interface, text_of(*detail, "info_kind"));
  if (const Json* addresses = member(object, "addr_info"); addresses && addresses->is_array()) {
    for (const Json& one : *addresses) {
      const std::string local = text_of(one, "local");
      if (local.empty()) continue;
      const auto length = integer_of(one, "prefixlen");
      add_address(store, *interface, length ? local + "/" + std::to_string(*length) : local, nowhere);
    }
  }
  return true;
}

int likeness_ip_json(std::string_view head) {
  const std::string_view bare = trim(head);
  if (!bare.starts_with('[') || !contains(bare, "\"ifname\"")) return 0;
  return contains(bare, "\"mtu\"") || contains(bare, "\"addr_info\"") || contains(bare, "\"operstate\"") ? 95 : 20;
}

Reading read_ip_json(std::string_view text, const ReadOptions& options) {
  const auto json = parse_json(text);
  if (!json) return failure(ErrorCode::Invalid, "not whole JSON");
  if (!json->is_array()) return failure(ErrorCode::Invalid, "not a list of interfaces");
  Store store(options);
  std::int64_t skipped = 0;
  for (const Json& object : *json) {
    if (object.is_object() && object.empty()) continue;  // old iproute2 leaves {} for what a filter removed
    if (!take_ip_object(store, object)) ++skipped;
  }
  if (store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no interface in it");
  if (skipped > 0) store.incomplete("interfaces", std::to_string(skipped) + " entries without the name of an interface", {});
  return store.take();
}

}  // namespace verl::fabric
