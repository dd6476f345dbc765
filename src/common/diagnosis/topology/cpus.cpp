// Reads lscpu (text and -J) and numactl --hardware: which NUMA nodes there are and which of them have CPUs.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/lines.h"
#include "diagnosis/topology/pinning.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"

namespace verl::topology {
namespace {

constexpr std::size_t kMostNodes = 4096;

// What lscpu says, from either form.
struct LscpuFacts {
  Facts facts{};
  std::optional<std::int64_t> nodes_counted{};  // "NUMA node(s)"
  std::int64_t taken{0};                        // fields of ours
  std::vector<std::string> broken{};
  std::vector<std::pair<std::string, std::string>> fields{};  // all of them
};

constexpr std::size_t kMostFields = 5000;

void take_field(std::string_view field, std::string_view text, LscpuFacts& into) {
  field = trim(field);
  while (field.ends_with(':')) field.remove_suffix(1);
  text = trim(text);
  if (into.fields.size() < kMostFields && !text.empty()) into.fields.emplace_back(shorten(field, 80), shorten(text, diagnosis::kEvidenceBytes));
  constexpr std::string_view kNode = "NUMA node";
  if (field.starts_with(kNode) && field.ends_with(" CPU(s)")) {
    const auto id = parse_int<std::int32_t>(field.substr(kNode.size(), field.size() - kNode.size() - 7));
    const auto cpus = parse_cpu_list(text);
    const bool none = text.empty() || text == "-";
    const bool readable = id && *id >= 0 && (cpus || none) && into.facts.numa_nodes.size() < kMostNodes;
    if (!readable) {
      if (into.broken.size() < 16) into.broken.push_back(shorten(field, 60) + " \"" + shorten(text, 60) + "\"");
      return;
    }
    into.facts.numa_nodes.push_back({.id = *id, .cpus = none ? std::string{} : to_list(*cpus), .memory_bytes = {}});
    ++into.taken;
  } else if (field == "NUMA node(s)") {
    into.nodes_counted = parse_int(text);
    ++into.taken;
  } else if (field == "Socket(s)") {
    into.facts.sockets = parse_int<std::int32_t>(text);
    ++into.taken;
  } else if (field == "Hypervisor vendor") {
    into.facts.virtual_machine = true;
    ++into.taken;
  } else if (field == "Virtualization type" && text == "full") {
    into.facts.virtual_machine = true;
  } else if (field == "CPU(s)" || field == "On-line CPU(s) list" || field == "Model name" || field == "Architecture") {
    ++into.taken;
  }
}

void take_json(const nlohmann::json& fields, LscpuFacts& into, int depth) {
  constexpr int kDeepest = 8;
  if (!fields.is_array() || depth > kDeepest) return;
  for (const nlohmann::json& one : fields) {
    if (!one.is_object()) continue;
    const auto field = one.find("field");
    const auto text = one.find("data");
    if (field != one.end() && field->is_string()) {
      take_field(field->get_ref<const std::string&>(), text != one.end() && text->is_string() ? std::string_view(text->get_ref<const std::string&>()) : "", into);
    }
    const auto children = one.find("children");
    if (children != one.end()) take_json(*children, into, depth + 1);
  }
}

void fill(LscpuFacts found, const ReadOptions& options, Reading& reading) {
  std::sort(found.facts.numa_nodes.begin(), found.facts.numa_nodes.end(), [](const NumaNode& a, const NumaNode& b) { return a.id < b.id; });
  const auto listed = static_cast<std::int64_t>(found.facts.numa_nodes.size());
  own_node(reading).topology = found.facts;
  add_values(found.facts, reading);
  if (found.nodes_counted) add_value(reading, "numa_nodes.counted", *found.nodes_counted);
  std::vector<std::string> with_cpus;
  for (const std::int32_t one : nodes_with_cpus(found.facts)) with_cpus.push_back(std::to_string(one));
  if (listed > 0) add_value(reading, "numa_nodes.with_cpus.ids", join(with_cpus, ","));
  if (found.nodes_counted && *found.nodes_counted != listed) {
    mark_incomplete(reading, options, "NUMA nodes", std::to_string(listed) + " of " + std::to_string(*found.nodes_counted) + " NUMA nodes are listed");
  }
  if (!found.broken.empty()) mark_incomplete(reading, options, "NUMA lines", "not readable: " + join_some(found.broken, 4));
  for (const auto& [field, text] : found.fields) add_value(reading, "lscpu." + field, text);
}

}  // namespace

int lscpu_likeness(std::string_view head) {
  if (trim(head).starts_with('{')) return head.find("\"lscpu\"") != std::string_view::npos && head.find("\"field\"") != std::string_view::npos ? 95 : 0;
  ReadOptions plain;
  Lines lines(head, plain);
  int known = 0;
  for (int i = 0; i < 400 && lines.next(); ++i) {
    const std::string_view line = trim(lines.line());
    if (line.starts_with("NUMA node") && line.find("CPU(s):") != std::string_view::npos) known += 2;
    if (line.starts_with("NUMA node(s):") || line.starts_with("Socket(s):") || line.starts_with("On-line CPU(s) list:") || line.starts_with("Thread(s) per core:")) ++known;
  }
  return known >= 2 ? 90 : 0;
}

Result<Reading> read_lscpu(std::string_view text, const ReadOptions& options) {
  LscpuFacts found;
  Reading reading;
  if (trim(text).starts_with('{')) {
    const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object() || !document.contains("lscpu")) return failure(ErrorCode::Invalid, "no JSON of lscpu -J, or cut");
    take_json(document["lscpu"], found, 0);
  } else {
    Lines lines(text, options);
    while (lines.next()) {
      const size_t colon = lines.line().find(':');
      if (colon == std::string_view::npos) {
        if (!trim(lines.line()).empty()) diagnosis::add_unread(reading, {.line = lines.number(), .text = std::string(lines.line()), .why = "no field of lscpu"});
        continue;
      }
      take_field(lines.line().substr(0, colon), lines.line().substr(colon + 1), found);
    }
  }
  if (found.taken == 0) return failure(ErrorCode::Invalid, "no field of lscpu");
  fill(std::move(found), options, reading);
  return reading;
}

int numactl_likeness(std::string_view head) {
  const bool nodes = head.find("node 0 cpus:") != std::string_view::npos || head.find(" cpus: ") != std::string_view::npos;
  return trim(head).starts_with("available: ") && head.find(" nodes (") != std::string_view::npos && nodes ? 95 : 0;
}

Result<Reading> read_numactl(std::string_view text, const ReadOptions& options) {
  Lines lines(text, options);
  Reading reading;
  Facts facts;
  std::optional<std::int64_t> available;
  bool distances = false;
  std::vector<std::string> broken;
  while (lines.next()) {
    const std::string_view line = trim(lines.line());
    if (line.empty()) continue;
    const std::vector<std::string_view> words = split_whitespace(line);
    if (words[0] == "available:" && words.size() > 1) {
      available = parse_int(words[1]);
      continue;
    }
    if (line.starts_with("node distances")) {
      distances = true;
      continue;
    }
    if (distances) {
      // "  0:  10  21" below "node   0   1".
      if (words[0].ends_with(':')) {
        const std::string from(words[0].substr(0, words[0].size() - 1));
        for (size_t i = 1; i < words.size() && i <= 64; ++i) {
          if (const auto one = parse_int(words[i])) add_value(reading, "distance[" + from + "][" + std::to_string(i - 1) + "]", *one);
        }
      }
      continue;
    }
    const auto id = words.size() > 2 && words[0] == "node" ? parse_int<std::int32_t>(words[1]) : std::nullopt;
    if (!id || *id < 0 || facts.numa_nodes.size() >= kMostNodes) {
      diagnosis::add_unread(reading, {.line = lines.number(), .text = std::string(line), .why = "no line of a node"});
      continue;
    }
    if (words[2] == "cpus:") {
      std::vector<std::int32_t> cpus;
      for (size_t i = 3; i < words.size(); ++i) {
        const auto one = parse_int<std::int32_t>(words[i]);
        if (one && *one >= 0 && *one < kMostCpus) cpus.push_back(*one);
        if (!one && broken.size() < 16) broken.push_back("node " + std::string(words[1]));
      }
      facts.numa_nodes.push_back({.id = *id, .cpus = to_list(cpu_set_of(std::move(cpus))), .memory_bytes = {}});
    } else if (words[2] == "size:" && words.size() > 3) {
      const auto size = parse_int(words[3]);
      const bool here = !facts.numa_nodes.empty() && facts.numa_nodes.back().id == *id;
      if (here && size && *size >= 0 && *size < (std::int64_t{1} << 40)) facts.numa_nodes.back().memory_bytes = *size << 20;  // "MB" means 2^20 here
    } else if (words[2] != "free:") {
      diagnosis::add_unread(reading, {.line = lines.number(), .text = std::string(line), .why = "no line of a node"});
    }
  }
  if (facts.numa_nodes.empty()) return failure(ErrorCode::Invalid, "no line \"node n cpus:\" as numactl --hardware prints");
  own_node(reading).topology = facts;
  add_values(facts, reading);
  const auto listed = static_cast<std::int64_t>(facts.numa_nodes.size());
  if (available && *available != listed) {
    mark_incomplete(reading, options, "NUMA nodes", std::to_string(listed) + " of " + std::to_string(*available) + " NUMA nodes are listed");
  }
  if (!broken.empty()) mark_incomplete(reading, options, "CPUs", "CPU numbers are not readable: " + join_some(broken, 4));
  return reading;
}

}  // namespace verl::topology
