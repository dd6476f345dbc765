#include "diagnosis/topology/facts.h"

#include <algorithm>
#include <utility>

#include "base/broken_invariant.h"

namespace verl::topology {
namespace {

template <class T>
void keep_first(std::optional<T>& into, std::optional<T> more) {
  if (!into) into = std::move(more);
}

template <class T>
void keep_first(T& into, T more) {
  if (into.empty()) into = std::move(more);
}

void merge(Gpu& into, Gpu more) {
  keep_first(into.name, std::move(more.name));
  keep_first(into.bus_id, std::move(more.bus_id));
  keep_first(into.uuid, std::move(more.uuid));
  keep_first(into.numa, std::move(more.numa));
  if (!into.cpus) {
    into.cpus = std::move(more.cpus);
    into.cpus_truncated = more.cpus_truncated;
    into.cpus_repaired = more.cpus_repaired;
  }
  keep_first(into.memory_node, more.memory_node);
  keep_first(into.mig, more.mig);
  keep_first(into.mig_slices, more.mig_slices);
  if (into.shown.text.empty()) into.shown = std::move(more.shown);
}

bool same(const Gpu& a, const Gpu& b) {
  if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id == b.bus_id;
  return a.index == b.index;
}

bool same(const Nic& a, const Nic& b) {
  if (!a.bus_id.empty() && !b.bus_id.empty()) return a.bus_id == b.bus_id;
  if (!a.device.empty() && !b.device.empty()) return a.device == b.device;
  return a.label == b.label;
}

void merge(Nic& into, Nic more) {
  keep_first(into.device, std::move(more.device));
  keep_first(into.bus_id, std::move(more.bus_id));
  keep_first(into.numa, std::move(more.numa));
}

void merge(PcieLink& into, PcieLink more) {
  if (into.kind == DeviceKind::Other) into.kind = more.kind;
  keep_first(into.name, std::move(more.name));
  keep_first(into.speed, more.speed);
  keep_first(into.speed_max, more.speed_max);
  keep_first(into.width, more.width);
  keep_first(into.width_max, more.width_max);
  keep_first(into.busy, more.busy);
}

// Each of `more` that is new is added, each that is known is merged. Quadratic, but the lists are those of one machine.
template <class T, class Same, class Merge>
void join(std::vector<T>& into, std::vector<T> more, const Same& is_same, const Merge& merge_one) {
  const auto known = static_cast<std::ptrdiff_t>(into.size());
  for (T& one : more) {
    const auto found = std::find_if(into.begin(), into.begin() + known, [&](const T& other) { return is_same(other, one); });
    if (found == into.begin() + known) {
      into.push_back(std::move(one));
    } else {
      merge_one(*found, std::move(one));
    }
  }
}

}  // namespace

void merge(Facts& into, Facts more) {
  // Labels of NICs and the relations that use them belong together: the first matrix stays whole.
  const bool matrix_known = !into.relations.empty();
  if (into.gpus.empty()) {
    into.gpus = std::move(more.gpus);
  } else {
    join(into.gpus, std::move(more.gpus), [](const Gpu& a, const Gpu& b) { return same(a, b); }, [](Gpu& a, Gpu b) { merge(a, std::move(b)); });
  }
  if (!matrix_known && !more.relations.empty()) std::swap(into.nics, more.nics);
  const bool nameless = std::any_of(into.nics.begin(), into.nics.end(), [](const Nic& one) { return one.device.empty() && one.bus_id.empty(); });
  if (into.nics.empty()) {
    into.nics = std::move(more.nics);
  } else if (!nameless) {  // or one NIC would count twice: under its number here, under its name there
    join(into.nics, std::move(more.nics), [](const Nic& a, const Nic& b) { return same(a, b); }, [](Nic& a, Nic b) { merge(a, std::move(b)); });
  }
  if (!matrix_known) into.relations = std::move(more.relations);
  keep_first(into.numa_nodes, std::move(more.numa_nodes));
  if (into.pcie_links.empty()) {
    into.pcie_links = std::move(more.pcie_links);
  } else {
    join(into.pcie_links, std::move(more.pcie_links), [](const PcieLink& a, const PcieLink& b) { return a.bus_id == b.bus_id; },
         [](PcieLink& a, PcieLink b) { merge(a, std::move(b)); });
  }
  into.acs_bridges.insert(into.acs_bridges.end(), more.acs_bridges.begin(), more.acs_bridges.end());
  into.files.insert(into.files.end(), more.files.begin(), more.files.end());
  into.pci_devices.insert(into.pci_devices.end(), more.pci_devices.begin(), more.pci_devices.end());
  keep_first(into.nvlink_shown, more.nvlink_shown);
  keep_first(into.nvswitch, more.nvswitch);
  keep_first(into.virtual_machine, more.virtual_machine);
  keep_first(into.sockets, more.sockets);
  keep_first(into.driver_version, std::move(more.driver_version));
  into.incomplete = into.incomplete || more.incomplete;
}

std::string_view to_string(Link link) {
  switch (link) {
    case Link::Self: return "X";
    case Link::NvLink: return "NV";
    case Link::Xgmi: return "XGMI";
    case Link::Pix: return "PIX";
    case Link::Pxb: return "PXB";
    case Link::Phb: return "PHB";
    case Link::Node: return "NODE";
    case Link::Sys: return "SYS";
    case Link::Pcie: return "PCIE";
    case Link::Unknown: return "unknown";
  }
  broken_invariant("a link outside its enumeration");
}

std::string to_text(const Relation& one) {
  std::string text(to_string(one.link));
  return one.link == Link::NvLink && one.links > 0 ? text + std::to_string(one.links) : text;
}

std::string label_of(const Gpu& gpu) { return "GPU" + std::to_string(gpu.index); }

}  // namespace verl::topology
