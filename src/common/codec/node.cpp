// Node, and the neighbours of pods that decisions ask about: PriorityClass, ResourceQuota, Lease.
#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_taint(Element value, api::Taint& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "key") {
      read(field, out.key, place, faults);
    } else if (key == "value") {
      read(field, out.value, place, faults);
    } else if (key == "effect") {
      read(field, out.effect, place, faults);
    }
  });
}

void read_spec(Element value, api::Node& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "unschedulable") {
      read(field, out.unschedulable, place, faults);
    } else if (key == "taints") {
      read_list(field, out.taints, place, faults,
                [&](Element item, api::Taint& taint, const Place& where) { read_taint(item, taint, where, faults); });
    }
  });
}

void read_addresses(Element value, std::string& internal_ip, const Place& at, Faults& faults) {
  internal_ip.clear();
  each_item(value, at, faults, [&](Element item, const Place& where) {
    std::string type;
    std::string address;
    each_field(item, where, faults, [&](std::string_view key, Element field, const Place& place) {
      if (key == "type") read(field, type, place, faults);
      if (key == "address") read(field, address, place, faults);
    });
    if (type == "InternalIP" && internal_ip.empty()) internal_ip = address;
  });
}

void read_status(Element value, api::Node& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "allocatable") {
      read(field, out.allocatable, place, faults);
    } else if (key == "addresses") {
      read_addresses(field, out.internal_ip, place, faults);
    } else if (key == "conditions") {
      std::vector<api::Condition> conditions;
      read(field, conditions, place, faults);
      const api::Condition* ready = api::find_condition(conditions, "Ready");
      out.ready = ready == nullptr ? api::ConditionStatus::Unknown : ready->status;
    } else if (key == "nodeInfo") {
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "bootID") read(inner, out.boot_id, where, faults);
      });
    }
  });
}

// The latest time at which somebody wrote this field of the spec, by the apiserver's clock: spec.renewTime itself is the
// client's and is not used.
std::optional<Timestamp> last_written(Element managed_fields, std::string_view spec_field, const Place& at, Faults& faults) {
  std::optional<Timestamp> latest;
  each_item(managed_fields, at, faults, [&](Element entry, const Place& where) {
    const auto fields = field_of(entry, "fieldsV1");
    const auto spec = fields ? field_of(*fields, "f:spec") : std::nullopt;
    const auto time = field_of(entry, "time");
    if (!spec || !field_of(*spec, spec_field) || !time) return;
    std::optional<Timestamp> written;
    read(*time, written, Place::field(where, "time"), faults);
    if (written && (!latest || *written > *latest)) latest = written;
  });
  return latest;
}

}  // namespace

void read_object(Element value, api::Node& out) {
  const Place root;
  Faults faults(out.unreadable);
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "spec") {
      read_spec(field, out, place, faults);
    } else if (key == "status") {
      read_status(field, out, place, faults);
    }
  });
}

void read_object(Element value, api::PriorityClass& out) {
  const Place root;
  Faults faults(out.unreadable);
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "value") {
      read(field, out.value, place, faults);
    } else if (key == "globalDefault") {
      read(field, out.global_default, place, faults);
    } else if (key == "preemptionPolicy") {
      std::string policy;
      read(field, policy, place, faults);
      out.may_preempt = policy != "Never";
    }
  });
}

void read_object(Element value, api::ResourceQuota& out) {
  const Place root;
  Faults faults(out.unreadable);
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "spec") {
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "hard") read(inner, out.hard, where, faults);
        if (name == "scopeSelector") out.scoped = true;
        if (name == "scopes") {
          std::vector<std::string> scopes;
          read(inner, scopes, where, faults);
          out.scoped = out.scoped || !scopes.empty();
        }
      });
    } else if (key == "status") {
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "used") read(inner, out.used, where, faults);
      });
    }
  });
}

void read_object(Element value, api::Heartbeat& out) {
  const Place root;
  Faults faults(out.unreadable);
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
      if (const auto managed = field_of(field, "managedFields")) {
        const Place where = Place::field(place, "managedFields");
        out.renewed = last_written(*managed, "f:renewTime", where, faults);
        out.asked = last_written(*managed, "f:leaseDurationSeconds", where, faults);
      }
    } else if (key == "spec") {
      each_field(field, place, faults, [&](std::string_view name, Element inner, const Place& where) {
        if (name == "holderIdentity") read(inner, out.holder, where, faults);
        if (name == "leaseDurationSeconds") read(inner, out.duration, where, faults);
      });
    }
  });
}

}  // namespace verl::codec
