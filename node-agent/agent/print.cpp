#include "node-agent/agent/print.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"

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

std::string dump(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string status_json(const api::NodeReadinessStatus& status) { return dump(to_json(status)); }

report::NodeLine line_of(const api::NodeReadiness& report) { return {.name = report.meta.name, .findings = report.status.findings}; }

std::string print_report(const api::NodeReadiness& report, report::Format format, const report::Style& style) {
  Json facts = to_json(report.status);
  facts.erase("findings");  // they stand beside the facts
  return report::render_node(line_of(report), "", format, style, dump(facts));
}

}  // namespace verl::agent
