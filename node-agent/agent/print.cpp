#include "node-agent/agent/print.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/check_catalogue.h"
#include "base/text.h"

namespace verl::agent {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

Json to_json(const Finding& finding) {
  Json out = {{"check", finding.check}, {"verdict", std::string(to_string(finding.verdict))}};
  put(out, "subject", finding.subject);
  put(out, "seen", finding.seen);
  put(out, "wanted", finding.wanted);
  put(out, "remedy", finding.remedy);
  put(out, "message", finding.message);
  return out;
}

Json to_json(const api::InterfaceStatus& one) {
  Json out = {{"name", one.name}, {"up", one.up}, {"mtu", one.mtu}};
  if (one.speed_mbps) out["speedMbps"] = *one.speed_mbps;
  put(out, "pci", one.pci);
  out["numaNode"] = one.numa_node;
  out["control"] = one.control;
  out["fabric"] = one.fabric;
  if (!one.addresses.empty()) out["addresses"] = one.addresses;
  return out;
}

Json to_json(const api::RdmaPortStatus& one) {
  Json out = {{"device", one.device}, {"port", one.port}};
  put(out, "state", one.state);
  put(out, "linkLayer", one.link_layer);
  out["activeMTU"] = one.active_mtu;
  out["rateGbps"] = one.rate_gbps;
  put(out, "netdev", one.netdev);
  put(out, "pci", one.pci);
  out["numaNode"] = one.numa_node;
  return out;
}

Json to_json(const api::Condition& one) {
  return {{"type", one.type},
          {"status", std::string(to_string(one.status))},
          {"reason", one.reason},
          {"message", one.message},
          {"lastTransitionTime", format_rfc3339(one.last_transition)},
          {"observedGeneration", one.observed_generation}};
}

template <class T>
Json list(const std::vector<T>& all) {
  Json out = Json::array();
  for (const T& one : all) out.push_back(to_json(one));
  return out;
}

Json to_json(const api::NodeReadinessStatus& status) {
  Json out = Json::object();
  out["observedGeneration"] = status.observed_generation;
  put(out, "nodeUID", status.node_uid);
  put(out, "bootID", status.boot_id);
  put(out, "agentVersion", status.agent_version);
  if (status.observed_at) out["observedAt"] = format_rfc3339(*status.observed_at);
  out["findings"] = list(status.findings);
  out["interfaces"] = list(status.interfaces);
  out["rdma"] = list(status.rdma);
  Json clock = {{"source", status.clock.source}, {"synchronised", status.clock.synchronised}};
  if (status.clock.offset) clock["offsetMicroseconds"] = status.clock.offset->count();
  if (status.clock.error_bound) clock["errorBoundMicroseconds"] = status.clock.error_bound->count();
  put(clock, "reference", status.clock.reference);
  out["clock"] = clock;
  Json nccl = Json::array();
  for (const api::NcclSetting& one : status.nccl) nccl.push_back({{"name", one.name}, {"value", one.value}, {"source", one.source}});
  out["nccl"] = nccl;
  out["topology"] = {{"sockets", status.topology.sockets}, {"numaNodes", status.topology.numa_nodes}, {"cores", status.topology.cores},
                     {"cpus", status.topology.cpus},       {"memoryBytes", status.topology.memory_bytes}, {"gpus", status.topology.gpus}};
  if (!status.conditions.empty()) out["conditions"] = list(status.conditions);
  return out;
}

std::string dump(const Json& value, int indent = -1) { return value.dump(indent, ' ', false, Json::error_handler_t::replace); }

std::string yaml(const Json& document) {
  // JSON is YAML; the emitter only lays it out. Text keeps its quotes, so that "1500" stays text.
  YAML::Emitter emitter;
  emitter.SetStringFormat(YAML::DoubleQuoted);
  const auto emit = [&emitter](const auto& self, const Json& value) -> void {
    if (value.is_object()) {
      emitter << YAML::BeginMap;
      for (const auto& [key, item] : value.items()) {
        emitter << YAML::Key << YAML::Auto << key << YAML::Value;
        self(self, item);
      }
      emitter << YAML::EndMap;
    } else if (value.is_array()) {
      if (value.empty()) emitter << YAML::Flow;
      emitter << YAML::BeginSeq;
      for (const Json& item : value) self(self, item);
      emitter << YAML::EndSeq;
    } else if (value.is_string()) {
      emitter << value.get<std::string>();
    } else if (value.is_boolean()) {
      emitter << value.get<bool>();
    } else {
      emitter << value.get<std::int64_t>();
    }
  };
  emit(emit, document);
  return std::string(emitter.c_str()) + "\n";
}

std::string_view mark(Verdict verdict, const PrintStyle& style) {
  struct Mark {
    std::string_view plain{};
    std::string_view ascii{};
    std::string_view colour{};
  };
  constexpr std::array<Mark, 5> kMarks{Mark{"√", "ok  ", "\033[32m√\033[0m"}, Mark{"‼", "WARN", "\033[33m‼\033[0m"},
                                       Mark{"×", "FAIL", "\033[31m×\033[0m"}, Mark{"?", "?   ", "\033[35m?\033[0m"},
                                       Mark{"-", "-   ", "-"}};
  const Mark& one = kMarks[static_cast<size_t>(verdict)];
  return style.ascii ? one.ascii : style.colour ? one.colour : one.plain;
}

std::string line_of(const Finding& finding) {
  std::string text = finding.subject;
  const auto add = [&](std::string_view separator, const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text += part;
  };
  add(": ", finding.seen);
  if (finding.verdict != Verdict::Pass) add(", wants ", finding.wanted);
  add("; ", finding.message);
  return escape_controls(text);
}

Verdict worst_of(const std::vector<Finding>& findings, std::string_view check) {
  std::vector<Finding> own;
  for (const Finding& finding : findings) {
    if (finding.check == check) own.push_back(finding);
  }
  const bool all_skipped = std::all_of(own.begin(), own.end(), [](const Finding& one) { return one.verdict == Verdict::Skipped; });
  return !own.empty() && all_skipped ? Verdict::Skipped : worst(own);
}

std::string table(const api::NodeReadiness& report, const PrintStyle& style) {
  std::string out;
  std::string_view group;
  for (const api::CheckEntry& check : api::kChecks) {
    const auto& findings = report.status.findings;
    if (std::none_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.check == check.id; })) continue;
    if (group != check.group) {
      group = check.group;
      out += fmt::format("{}{}\n{}\n", out.empty() ? "" : "\n", group, std::string(group.size(), '-'));
    }
    out += fmt::format("{} {:<58} {}\n", mark(worst_of(findings, check.id), style), check.title, check.id);
    for (const Finding& finding : findings) {
      if (finding.check != check.id) continue;
      if (const std::string line = line_of(finding); !line.empty()) out += fmt::format("    {} {}\n", mark(finding.verdict, style), line);
      if (!finding.remedy.empty()) out += fmt::format("      fix: {}\n", escape_controls(finding.remedy));
    }
  }
  const auto count = [&](Verdict verdict) {
    return std::count_if(report.status.findings.begin(), report.status.findings.end(), [&](const Finding& one) { return one.verdict == verdict; });
  };
  out += fmt::format("\n{} failed, {} unknown, {} warnings, {} passed, {} not judged.\n", count(Verdict::Fail), count(Verdict::Unknown),
                     count(Verdict::Warn), count(Verdict::Pass), count(Verdict::Skipped));
  return out;
}

}  // namespace

std::string status_json(const api::NodeReadinessStatus& status) { return dump(to_json(status)); }

std::string print_report(const api::NodeReadiness& report, const PrintStyle& style) {
  if (style.format == Format::Table) return table(report, style);
  Json document = {{"schemaVersion", 1}, {"kind", "NodeReport"}, {"node", report.meta.name}, {"status", to_json(report.status)}};
  return style.format == Format::Yaml ? yaml(document) : dump(document, 2) + "\n";
}

}  // namespace verl::agent
