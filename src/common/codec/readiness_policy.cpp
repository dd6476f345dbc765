#include "base/quantity.h"
#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_term(Element value, api::SelectorTerm& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
      {"In", "In"}, {"NotIn", "NotIn"}, {"Exists", "Exists"}, {"DoesNotExist", "DoesNotExist"}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "key") {
      read(field, out.key, place, faults);
    } else if (key == "operator") {
      std::string_view op;
      read_word(field, op, kOperators, place, faults);
      out.op.assign(op);
    } else if (key == "values") {
      read(field, out.values, place, faults);
    }
  });
}

void read_selector(Element value, api::NodeSelector& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "matchLabels") {
      read(field, out.match_labels, place, faults);
    } else if (key == "matchExpressions") {
      read_list(field, out.match_expressions, place, faults,
                [&](Element item, api::SelectorTerm& term, const Place& where) { read_term(item, term, where, faults); });
    }
  });
}

void read_memory(Element value, std::optional<Bytes>& out, const Place& at, Faults& faults) {
  const auto milli = read_quantity_milli(value, at, faults);
  out.reset();
  if (milli) out = Bytes{*milli / 1000 + (*milli % 1000 != 0 ? 1 : 0)};
}

void read_spec(Element value, api::ReadinessPolicySpec& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "nodeSelector") {
      read_selector(field, out.node_selector, place, faults);
    } else if (key == "priority") {
      read(field, out.priority, place, faults);
    } else if (key == "expectations") {
      read(field, out.expectations, place, faults);
    } else if (key == "memoryPerGPU") {
      read_memory(field, out.memory_per_gpu, place, faults);
    } else if (key == "rdmaResource") {
      read(field, out.rdma_resource, place, faults);
    } else if (key == "reservedPorts") {
      read_list(field, out.reserved_ports, place, faults, [&](Element item, std::int32_t& port, const Place& where) { read(item, port, where, faults); });
    } else if (key == "allowedHostPaths") {
      read(field, out.allowed_host_paths, place, faults);
    }
  });
}

}  // namespace

void read_object(Element value, api::ReadinessPolicy& out) {
  const Place root;
  Faults faults(out.unreadable);
  bool has_spec = false;
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "spec") {
      has_spec = true;
      read_spec(field, out.spec, place, faults);
    }
  });
  if (!has_spec) faults.add(Place::field(root, "spec"), "is missing");
}

}  // namespace verl::codec
