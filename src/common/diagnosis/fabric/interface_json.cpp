// A node's Ethernet side as one JSON object: interfaces as `ip -j` gives them, LLDP neighbours, speeds, and the persistent
// configuration beside the actual state (the layout of Meta's gcm health checks).
#include "diagnosis/fabric/json_text.h"
#include "diagnosis/fabric/readers.h"

namespace verl::fabric {
namespace {

void take_speeds(Store& store, const Json& speeds) {
  for (const auto& item : speeds.items()) {
    Interface* interface = store.interface(item.key());
    const auto speed = integer_of(speeds, item.key().c_str());
    if (interface && speed) set_speed(store, *interface, *speed, {});
  }
}

// Keys of ifcfg files.
void take_configuration(Store& store, const Json& files) {
  for (const auto& item : files.items()) {
    Interface* interface = store.interface(item.key());
    if (!interface) continue;
    if (const auto mtu = integer_of(item.value(), "MTU"); mtu && *mtu > 0 && *mtu <= INT32_MAX) {
      interface->configured_mtu = static_cast<std::int32_t>(*mtu);
      store.value(interface_path(*interface, "configured_mtu"), *mtu, "B");
    }
    if (const std::string master = text_of(item.value(), "MASTER"); !master.empty() && interface->master.empty()) interface->master = master;
  }
}

// {"lldp": {"interface": [{"ens5": {"chassis": {"switch-7": {...}}, "port": {"id": {"value": "Ethernet3/1"}}}}]}}
void take_neighbours(Store& store, const Json& status) {
  const Json* lldp = member(status, "lldp");
  const Json* list = lldp ? member(*lldp, "interface") : nullptr;
  if (!list) return;
  const auto take = [&](const Json& one) {
    if (!one.is_object()) return;
    for (const auto& item : one.items()) {
      const std::string path = "interface[" + item.key() + "].lldp.";
      if (const Json* chassis = member(item.value(), "chassis"); chassis && chassis->is_object() && !chassis->empty()) {
        store.value(path + "switch", chassis->begin().key());
      }
      const Json* port = member(item.value(), "port");
      const Json* id = port ? member(*port, "id") : nullptr;
      if (id) store.value(path + "port", text_of(*id, "value"));
    }
  };
  if (list->is_array()) {
    for (const Json& one : *list) take(one);
  } else {
    take(*list);
  }
}

}  // namespace

int likeness_interface_json(std::string_view head) {
  return trim(head).starts_with('{') && contains(head, "\"intf_status\"") ? 95 : 0;
}

Reading read_interface_json(std::string_view text, const ReadOptions& options) {
  const auto json = parse_json(text);
  if (!json || !json->is_object()) return failure(ErrorCode::Invalid, json ? "not an object" : "not whole JSON");
  Store store(options);
  std::int64_t skipped = 0;
  if (const Json* status = member(*json, "intf_status"); status && status->is_array()) {
    for (const Json& object : *status) {
      if (!take_ip_object(store, object)) ++skipped;
    }
  }
  if (const Json* speeds = member(*json, "link_speed"); speeds && speeds->is_object()) take_speeds(store, *speeds);
  if (const Json* files = member(*json, "intf_ifcfg"); files && files->is_object()) take_configuration(store, *files);
  if (const Json* lldp = member(*json, "lldp_status")) take_neighbours(store, *lldp);
  if (store.facts().interfaces.empty()) return failure(ErrorCode::Invalid, "no interface in it");
  if (skipped > 0) store.incomplete("intf_status", std::to_string(skipped) + " entries without the name of an interface", {});
  return store.take();
}

}  // namespace verl::fabric
