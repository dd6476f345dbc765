// Reads the XML of lstopo (hwloc 1, 2 and 3): NUMA nodes and their CPUs, GPUs and NICs by PCI function. The CPUs are those of the
// file, whatever machine reads it. One GPU shows up as cuda, opencl, nvml and rsmi devices: its PCI function is counted, once.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/pci.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"
#include "diagnosis/topology/xml.h"

namespace verl::topology {
namespace {

constexpr std::size_t kMostElements = 2'000'000;

std::string_view type_of(const pugi::xml_node& node) { return node.attribute("type").value(); }

// "0302 [10de:1db8] [10de:131d] a1 00"
struct PciType {
  std::uint32_t code{0};
  std::uint32_t vendor{0};
};

std::optional<PciType> pci_type(const pugi::xml_node& node) {
  const std::string_view text = node.attribute("pci_type").value();
  const auto code = parse_hex(text.substr(0, text.find(' ')));
  const size_t bracket = text.find('[');
  if (!code || bracket == std::string_view::npos) return std::nullopt;
  return PciType{.code = *code, .vendor = parse_hex(text.substr(bracket + 1, 4)).value_or(0)};
}

DeviceKind kind_of(const PciType& type) {
  const bool display = type.code == 0x0300 || type.code == 0x0302 || type.code == 0x0380 || type.code == 0x1200;
  constexpr std::uint32_t kAmd = 0x1002;
  if (display && (type.vendor == kNvidia || type.vendor == kAmd)) return DeviceKind::Gpu;  // not the server's own graphics
  return type.code == 0x0200 || type.code == 0x0207 || type.code == 0x0208 ? DeviceKind::Nic : DeviceKind::Other;
}

// Number behind a device's name: 3 of "nvml3"; nothing for other names.
std::optional<std::int32_t> number_of(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? parse_int<std::int32_t>(name.substr(prefix.size())) : std::nullopt;
}

class HwlocReader {
 public:
  HwlocReader(const pugi::xml_node& root, const ReadOptions& options) : root_(root), options_(options) {}

  Result<Reading> read() {
    const bool all = for_each_element(root_, kMostElements, [&](const pugi::xml_node& node) {
      if (std::string_view(node.name()) == "object") take(node);
    });
    if (!all) mark_incomplete(reading_, options_, "elements", "more than " + std::to_string(kMostElements) + " elements");
    if (objects_ == 0) return failure(ErrorCode::Invalid, "a topology without an object: no file of lstopo");
    Facts& facts = own_node(reading_).topology;
    // By number where tools gave them one, else in the order of the file.
    std::int32_t next = 0;
    for (const auto& [bus_id, names] : gpu_names_) next = std::max(next, index_of(names).value_or(-1) + 1);
    for (Gpu& gpu : facts.gpus) {
      const auto index = index_of(gpu_names_[gpu.bus_id]);
      gpu.index = index ? *index : next++;
    }
    std::sort(facts.gpus.begin(), facts.gpus.end(), [](const Gpu& a, const Gpu& b) { return a.index < b.index; });
    if (packages_ > 0) facts.sockets = packages_;
    Facts copy = facts;
    add_values(copy, reading_);
    for (const Gpu& gpu : copy.gpus) {
      const auto package = package_of_.find(gpu.bus_id);
      if (package != package_of_.end()) add_value(reading_, label_of(gpu) + ".package", static_cast<std::int64_t>(package->second));
      add_value(reading_, label_of(gpu) + ".os_devices", join(gpu_names_[gpu.bus_id], ","));
    }
    add_value(reading_, "packages", static_cast<std::int64_t>(packages_));
    add_value(reading_, "cores", cores_);
    add_value(reading_, "cpus", count(cpu_set_of(cpus_)));
    add_value(reading_, "bridges", bridges_);
    add_value(reading_, "nvswitches", static_cast<std::int64_t>(nvswitches_));
    return std::move(reading_);
  }

 private:
  static std::optional<std::int32_t> index_of(const std::vector<std::string>& names) {
    for (const char* prefix : {"nvml", "cuda", "rsmi"}) {
      for (const std::string& name : names) {
        if (const auto number = number_of(name, prefix)) return number;
      }
    }
    return std::nullopt;
  }

  void take(const pugi::xml_node& node) {
    ++objects_;
    const std::string_view type = type_of(node);
    if (type == "Package" || type == "Socket") ++packages_;
    if (type == "Core") ++cores_;
    if (type == "Bridge") ++bridges_;
    if (type == "PU" && cpus_.size() < static_cast<size_t>(kMostCpus)) {
      const std::int32_t cpu = node.attribute("os_index").as_int(-1);
      if (cpu >= 0 && cpu < kMostCpus) cpus_.push_back(cpu);
    }
    if (type == "NUMANode") take_numa(node);
    if (type == "PCIDev") take_pci(node);
    if (type == "OSDev") take_os_device(node);
  }

  void take_numa(const pugi::xml_node& node) {
    Facts& facts = own_node(reading_).topology;
    if (facts.numa_nodes.size() >= 4096) return;
    NumaNode one;
    one.id = node.attribute("os_index").as_int(-1);
    const std::string_view mask = node.attribute("cpuset").value();
    const auto cpus = parse_cpu_mask(mask);
    if (cpus) one.cpus = to_list(*cpus);
    if (!cpus && !mask.empty()) mark_incomplete(reading_, options_, "cpuset", "the cpuset of NUMA node " + std::to_string(one.id) + " is not readable");
    const std::string_view memory = node.attribute("local_memory").value();
    if (const auto bytes = parse_int(memory)) one.memory_bytes = *bytes;
    facts.numa_nodes.push_back(std::move(one));
  }

  // The nearest object above that is not of the I/O tree: it has the CPUs and nodes that the device is near to.
  void place(const pugi::xml_node& node, const std::string& bus_id, std::set<std::int32_t>& numa, std::optional<std::string>* cpus) {
    bool near = false;
    for (pugi::xml_node up = node.parent(); up; up = up.parent()) {
      const std::string_view type = type_of(up);
      if (type == "Package" || type == "Socket") package_of_.emplace(bus_id, up.attribute("os_index").as_int(-1));
      if (near || type == "Bridge" || type == "PCIDev" || type.empty()) continue;
      near = true;
      if (cpus != nullptr) {
        const auto set = parse_cpu_mask(up.attribute("cpuset").value());
        if (set) *cpus = to_list(*set);
      }
      const auto nodes = parse_cpu_mask(up.attribute("nodeset").value());
      if (!nodes || count(*nodes) > 4096) continue;
      for (const auto& [first, last] : nodes->ranges) {
        for (std::int32_t one = first; one <= last; ++one) numa.insert(one);
      }
    }
  }

  void take_pci(const pugi::xml_node& node) {
    Facts& facts = own_node(reading_).topology;
    const auto type = pci_type(node);
    const auto bus_id = parse_bus_id(node.attribute("pci_busid").value());
    if (!type || !bus_id) return;
    if (type->code == 0x0680 && type->vendor == kNvidia) ++nvswitches_;
    const DeviceKind kind = kind_of(*type);
    if (kind == DeviceKind::Other || facts.gpus.size() + facts.nics.size() >= kMostDevices || !seen_.insert(*bus_id).second) return;
    facts.pci_devices.push_back(*bus_id);
    if (kind == DeviceKind::Gpu) {
      Gpu gpu;
      gpu.bus_id = *bus_id;
      place(node, *bus_id, gpu.numa, &gpu.cpus);
      gpu_names_.emplace(*bus_id, std::vector<std::string>{});
      facts.gpus.push_back(std::move(gpu));
      return;
    }
    Nic nic;
    nic.bus_id = *bus_id;
    nic.label = *bus_id;
    place(node, *bus_id, nic.numa, nullptr);
    facts.nics.push_back(std::move(nic));
  }

  void take_os_device(const pugi::xml_node& node) {
    Facts& facts = own_node(reading_).topology;
    const std::string name = node.attribute("name").value();
    const auto bus_id = parse_bus_id(node.parent().attribute("pci_busid").value());
    if (!bus_id || name.empty() || name.size() > 64) return;
    const auto gpu = gpu_names_.find(*bus_id);
    if (gpu != gpu_names_.end()) {
      if (gpu->second.size() < 16) gpu->second.push_back(name);
      for (Gpu& one : facts.gpus) {
        if (one.bus_id == *bus_id && one.name.empty()) one.name = info(node, "GPUModel");
        if (one.bus_id == *bus_id && one.uuid.empty()) one.uuid = info(node, "NVIDIAUUID");
      }
      return;
    }
    for (Nic& one : facts.nics) {
      if (one.bus_id != *bus_id) continue;
      // The RDMA device has a GUID; the network interface an address.
      const bool rdma = !info(node, "NodeGUID").empty() || !info(node, "SysImageGUID").empty();
      if (!rdma && !one.device.empty()) continue;
      if (!rdma && info(node, "Address").empty()) continue;
      if (rdma) {
        one.device = name;
        one.label = name;
      }
    }
  }

  static std::string info(const pugi::xml_node& node, const char* name) {
    for (const pugi::xml_node one : node.children("info")) {
      if (std::string_view(one.attribute("name").value()) == name) return one.attribute("value").value();
    }
    return {};
  }

  pugi::xml_node root_;
  const ReadOptions& options_;
  Reading reading_{};
  std::int64_t objects_{0};
  std::int32_t packages_{0};
  std::int64_t cores_{0};
  std::int64_t bridges_{0};
  std::int64_t nvswitches_{0};
  std::vector<std::int32_t> cpus_{};
  std::set<std::string> seen_{};
  std::map<std::string, std::vector<std::string>> gpu_names_{};
  std::map<std::string, std::int32_t> package_of_{};
};

}  // namespace

int hwloc_likeness(std::string_view head) {
  return root_element(head) == "topology" && head.find("<object type=") != std::string_view::npos ? 95 : 0;
}

Result<Reading> read_hwloc(std::string_view text, const ReadOptions& options) {
  pugi::xml_document document;
  const auto parsed = parse_xml(text, document);
  if (!parsed) return tl::make_unexpected(parsed.error());
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "topology") return failure(ErrorCode::Invalid, "root element is " + shorten(root.name(), 64) + ", not topology");
  return HwlocReader(root, options).read();
}

}  // namespace verl::topology
