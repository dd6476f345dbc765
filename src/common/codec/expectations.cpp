// What ReadinessPolicy and NodeReadiness both say of a node.
#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_inventory(Element value, api::Inventory& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "gpus") {
      read(field, out.gpus, place, faults);
    } else if (key == "rdmaDevices") {
      read(field, out.rdma_devices, place, faults);
    } else if (key == "numaNodes") {
      read(field, out.numa_nodes, place, faults);
    }
  });
}

void read_thresholds(Element value, api::Thresholds& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "mtuMin") {
      read(field, out.mtu_min, place, faults);
    } else if (key == "rdmaMTUMin") {
      read(field, out.rdma_mtu_min, place, faults);
    } else if (key == "linkGbpsMin") {
      read(field, out.link_gbps_min, place, faults);
    } else if (key == "clockOffsetMaxMicroseconds") {
      read(field, out.clock_offset_max, place, faults);
    }
  });
}

void read_rule(Element value, api::CheckRule& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::CheckAction> kActions[] = {
      {"Block", api::CheckAction::Block}, {"Warn", api::CheckAction::Warn}, {"Off", api::CheckAction::Off}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "id") {
      read(field, out.id, place, faults);
    } else if (key == "action") {
      read_word(field, out.action, kActions, place, faults);
    }
  });
}

}  // namespace

void read(Element value, api::Expectations& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "inventory") {
      read_inventory(field, out.inventory, place, faults);
    } else if (key == "thresholds") {
      read_thresholds(field, out.thresholds, place, faults);
    } else if (key == "fabricInterfaces") {
      read(field, out.fabric_interfaces, place, faults);
    } else if (key == "controlInterface") {
      read(field, out.control_interface, place, faults);
    } else if (key == "checks") {
      read_list(field, out.checks, place, faults, [&](Element item, api::CheckRule& rule, const Place& where) { read_rule(item, rule, where, faults); });
    }
  });
}

}  // namespace verl::codec
