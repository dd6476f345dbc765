// Reads NCCL's XML: topology files (NCCL_TOPO_FILE, dumps of NCCL_TOPO_DUMP_FILE, those of vendors) and graph files. There is no
// limit of elements as NCCL's own reader has. A file is never taken for the node it lies on: it may be of another machine.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/pci.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"
#include "diagnosis/topology/xml.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;

constexpr std::size_t kMostElements = 1'000'000;

DeviceKind kind_of(const pugi::xml_node& pci) {
  if (pci.child("gpu")) return DeviceKind::Gpu;
  if (pci.child("nic")) return DeviceKind::Nic;
  const auto code = parse_hex(pci.attribute("class").value());
  if (!code) return DeviceKind::Other;
  switch (*code >> 8) {
    case 0x0300:
    case 0x0302:
    case 0x0380:  // AMD's display controllers without a display
    case 0x1200:  // processing accelerators
      return DeviceKind::Gpu;
    case 0x0200:
    case 0x0207: return DeviceKind::Nic;
    case 0x0604: return DeviceKind::Bridge;
    default: return DeviceKind::Other;
  }
}

struct Device {
  std::string bus_id{};
  DeviceKind kind{DeviceKind::Other};
  std::string code{};                 // "0x030200"
  std::int32_t node{-1};
  std::vector<std::string> bridges{};  // above it, the host's first
  std::optional<std::int64_t> dev{};   // of the gpu element
  std::vector<std::string> nets{};
};

// Names of the CPU (its place) and of the bridges above an element.
struct Place {
  std::int32_t cpu{-1};
  std::vector<std::string> bridges{};
};

Place place_of(const pugi::xml_node& pci) {
  Place place;
  for (pugi::xml_node up = pci.parent(); up; up = up.parent()) {
    if (std::string_view(up.name()) == "pci") place.bridges.insert(place.bridges.begin(), up.attribute("busid").value());
    if (std::string_view(up.name()) == "cpu") place.cpu = up.attribute("numaid").as_int(-1);
  }
  return place;
}

Link link_between(const Device& a, const Device& b) {
  std::size_t shared = 0;
  while (shared < a.bridges.size() && shared < b.bridges.size() && a.bridges[shared] == b.bridges[shared]) ++shared;
  if (shared > 0) return shared == a.bridges.size() && shared == b.bridges.size() ? Link::Pix : Link::Pxb;
  if (a.node < 0 || b.node < 0) return Link::Unknown;
  return a.node == b.node ? Link::Phb : Link::Sys;
}

std::optional<double> speed_of(std::string_view text) {
  const std::vector<std::string_view> words = split_whitespace(text);
  if (words.size() < 2 || words[1] != "GT/s") return std::nullopt;
  double whole = 0;
  double scale = 0;
  for (const char c : words[0].substr(0, 8)) {
    if (c == '.' && scale == 0) {
      scale = 1;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    scale *= 10;
    whole = whole * 10 + (c - '0');
  }
  return scale > 0 ? whole / scale : whole;
}

class TopologyReader {
 public:
  TopologyReader(const pugi::xml_node& root, const ReadOptions& options) : root_(root), options_(options) {}

  Reading read() {
    const bool all = for_each_element(root_, kMostElements, [&](const pugi::xml_node& node) { take(node); });
    if (!all) mark_incomplete(reading_, options_, "elements", "more than " + std::to_string(kMostElements) + " elements");
    TopologyFile file;
    file.source = options_.name;
    std::int64_t nics = 0;
    std::int64_t infiniband = 0;
    for (const Device& one : devices_) {
      if (one.kind == DeviceKind::Gpu) file.gpus.push_back(one.bus_id);
      if (one.kind == DeviceKind::Nic) {
        file.nics.push_back(one.bus_id);
        ++nics;
        infiniband += one.code.starts_with("0x0207") ? 1 : 0;
      }
    }
    add_value(reading_, "elements", static_cast<std::int64_t>(elements_));
    add_value(reading_, "numa_nodes", static_cast<std::int64_t>(nodes_.size()));
    add_value(reading_, "gpus", static_cast<std::int64_t>(file.gpus.size()));
    add_value(reading_, "nics", nics);
    add_value(reading_, "nics.infiniband", infiniband);
    add_value(reading_, "nets", static_cast<std::int64_t>(nets_));
    if (file.gpus.size() + file.nics.size() <= kMostDevices) {
      add_nearest();
    } else {
      mark_incomplete(reading_, options_, "relations", "more than " + std::to_string(kMostDevices) + " GPUs and NICs: their distances are not worked out");
    }
    if (file.gpus.empty()) mark_incomplete(reading_, options_, "GPUs", "the file describes no GPU");
    if (!unreadable_.empty()) mark_incomplete(reading_, options_, "bus ids", "no PCI address: " + join_some(unreadable_, 4));
    own_node(reading_).topology.files.push_back(std::move(file));
    return std::move(reading_);
  }

 private:
  void take(const pugi::xml_node& node) {
    ++elements_;
    const std::string_view name = node.name();
    if (name == "cpu") return take_cpu(node);
    if (name == "pci") return take_pci(node);
    if (name == "net") return take_net(node);
  }

  void take_cpu(const pugi::xml_node& node) {
    const std::int32_t id = node.attribute("numaid").as_int(-1);
    if (!nodes_.insert(id).second) return;
    const auto cpus = parse_cpu_mask(node.attribute("affinity").value());
    const std::string label = "numa[" + std::to_string(id) + "]";
    if (cpus) add_value(reading_, label + ".cpus", to_list(*cpus));
    if (*node.attribute("arch").value() != '\0') add_value(reading_, label + ".arch", std::string(node.attribute("arch").value()));
  }

  void take_pci(const pugi::xml_node& node) {
    Device one;
    const std::string shown = node.attribute("busid").value();
    const auto bus_id = parse_bus_id(shown);
    one.kind = kind_of(node);
    if (!bus_id) {
      unreadable_.push_back(shorten(shown, 32));
      return;
    }
    one.bus_id = *bus_id;
    one.code = node.attribute("class").value();
    const Place place = place_of(node);
    one.node = place.cpu;
    one.bridges = place.bridges;
    if (const pugi::xml_node gpu = node.child("gpu")) {
      one.dev = gpu.attribute("dev").as_llong(-1);
      for (const pugi::xml_node link : gpu.children("nvlink")) {
        const std::string target = parse_bus_id(link.attribute("target").value()).value_or(link.attribute("target").value());
        if (target.empty()) continue;
        add_value(reading_, "pci[" + one.bus_id + "].nvlink[" + target + "]", static_cast<std::int64_t>(link.attribute("count").as_int(0)));
      }
    }
    if (one.kind == DeviceKind::Gpu || one.kind == DeviceKind::Nic) {
      const std::string label = "pci[" + one.bus_id + "]";
      add_value(reading_, label + ".kind", std::string(one.kind == DeviceKind::Gpu ? "GPU" : "NIC"));
      if (!one.code.empty()) add_value(reading_, label + ".class", one.code);
      if (one.node >= 0) add_value(reading_, label + ".numa", static_cast<std::int64_t>(one.node));
      if (one.dev && *one.dev >= 0) add_value(reading_, label + ".dev", *one.dev);
      if (!one.bridges.empty()) add_value(reading_, label + ".switch", one.bridges.back());
      if (const auto speed = speed_of(node.attribute("link_speed").value())) add_value(reading_, label + ".link_speed", *speed, "GT/s");
      const int width = node.attribute("link_width").as_int(0);
      if (width > 0) add_value(reading_, label + ".link_width", static_cast<std::int64_t>(width));
    }
    devices_.push_back(std::move(one));
  }

  void take_net(const pugi::xml_node& node) {
    ++nets_;
    const std::string label = "net[" + std::string(node.attribute("name").value()) + "]";
    const Place place = place_of(node);
    if (place.cpu >= 0) add_value(reading_, label + ".numa", static_cast<std::int64_t>(place.cpu));
    if (const int speed = node.attribute("speed").as_int(0); speed > 0) add_value(reading_, label + ".speed", static_cast<std::int64_t>(speed), "Mb/s");
    if (const pugi::xml_attribute gdr = node.attribute("gdr")) add_value(reading_, label + ".gdr", gdr.as_int(0) != 0);
  }

  void add_nearest() {
    for (const Device& gpu : devices_) {
      if (gpu.kind != DeviceKind::Gpu) continue;
      Link nearest = Link::Unknown;
      std::vector<std::string> nics;
      for (const Device& nic : devices_) {
        if (nic.kind != DeviceKind::Nic) continue;
        const Link link = link_between(gpu, nic);
        if (link > nearest) continue;
        if (link < nearest) nics.clear();
        nearest = link;
        nics.push_back(nic.bus_id);
      }
      if (nearest == Link::Unknown) continue;
      add_value(reading_, "pci[" + gpu.bus_id + "].nearest", join(nics, ","));
      add_value(reading_, "pci[" + gpu.bus_id + "].nearest.link", std::string(to_string(nearest)));
    }
  }

  pugi::xml_node root_;
  const ReadOptions& options_;
  Reading reading_{};
  std::size_t elements_{0};
  std::size_t nets_{0};
  std::set<std::int32_t> nodes_{};
  std::vector<Device> devices_{};
  std::vector<std::string> unreadable_{};
};

// The root element named `wanted`, or an error that says what the root is.
Result<pugi::xml_node> root_named(std::string_view text, std::string_view wanted, pugi::xml_document& document) {
  const auto parsed = parse_xml(text, document);
  if (!parsed) return tl::make_unexpected(parsed.error());
  const pugi::xml_node root = document.document_element();
  if (root.name() == wanted) return root;
  return failure(ErrorCode::Invalid, "root element is " + shorten(root.name(), 64) + ", not " + std::string(wanted) +
                                         (std::string_view(root.name()) == "graphs" ? ": a graph file is no topology" : ""));
}

}  // namespace

int nccl_topology_likeness(std::string_view head) { return root_element(head) == "system" && head.find("<cpu") != std::string_view::npos ? 95 : 0; }

Result<Reading> read_nccl_topology(std::string_view text, const ReadOptions& options) {
  pugi::xml_document document;
  const auto root = root_named(text, "system", document);
  if (!root) return tl::make_unexpected(root.error());
  return TopologyReader(*root, options).read();
}

int nccl_graph_likeness(std::string_view head) { return root_element(head) == "graphs" ? 95 : 0; }

Result<Reading> read_nccl_graph(std::string_view text, const ReadOptions& options) {
  pugi::xml_document document;
  const auto root = root_named(text, "graphs", document);
  if (!root) return tl::make_unexpected(root.error());
  Reading reading;
  std::int64_t graphs = 0;
  for (const pugi::xml_node graph : root->children("graph")) {
    const std::string label = "graph[" + std::string(graph.attribute("id").value()) + "]";
    for (const char* name : {"pattern", "nchannels", "speedintra", "speedinter", "typeintra", "typeinter", "crossnic"}) {
      const std::string_view text_of = graph.attribute(name).value();
      if (text_of.empty()) continue;
      const auto number = parse_int(text_of);
      if (number) {
        add_value(reading, label + "." + name, *number);
      } else {
        add_value(reading, label + "." + name, std::string(text_of));
      }
    }
    std::int64_t channels = 0;
    for (const pugi::xml_node channel : graph.children("channel")) {
      channels += std::string_view(channel.name()).empty() ? 0 : 1;
    }
    add_value(reading, label + ".channels", channels);
    if (++graphs >= 1000) break;
  }
  add_value(reading, "graphs", graphs);
  Finding finding = finding_of("nccl-graph-file", "");
  finding.seen = "graphs";
  finding.wanted = "system";
  finding.message = "root element is graphs: this is a graph file with " + std::to_string(graphs) + " graphs, not a topology";
  finding.evidence.push_back({.source = options.name, .line = 0, .text = {}});
  reading.findings.push_back(std::move(finding));
  return reading;
}

}  // namespace verl::topology
