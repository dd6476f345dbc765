#include <algorithm>

#include "codec/encode.h"
#include "codec/encode_expectations.h"
#include "codec/writer.h"

namespace verl::codec {
namespace {

Json spec_of(const api::NodeReadinessSpec& spec) {
  Json out{{"nodeUID", spec.node_uid}, {"gpus", spec.gpus}, {"policyGeneration", spec.policy_generation}, {"expectations", to_json(spec.expectations)}};
  put(out, "address", spec.address);
  put(out, "policy", spec.policy);
  put_json(out, "domains", list_of(spec.domains, [](const api::DomainName& name) {
        return Json{{"level", name.level}, {"domain", name.domain}};
      }));
  return out;
}

Json finding(const Finding& finding) {
  Json out{{"check", finding.check}, {"verdict", to_string(finding.verdict)}};
  put(out, "subject", finding.subject);
  put(out, "seen", finding.seen);
  put(out, "wanted", finding.wanted);
  put(out, "remedy", finding.remedy);
  put(out, "message", finding.message);
  return out;
}

Json interface(const api::InterfaceStatus& from) {
  Json out{{"name", from.name},         {"up", from.up},           {"mtu", from.mtu},
           {"numaNode", from.numa_node}, {"control", from.control}, {"fabric", from.fabric}};
  put_number(out, "speedMbps", from.speed_mbps);
  put(out, "pci", from.pci);
  put(out, "addresses", from.addresses);
  return out;
}

Json rdma_port(const api::RdmaPortStatus& from) {
  Json out{{"device", from.device}, {"port", from.port}, {"activeMTU", from.active_mtu}, {"rateGbps", from.rate_gbps}, {"numaNode", from.numa_node}};
  put(out, "state", from.state);
  put(out, "linkLayer", from.link_layer);
  put(out, "netdev", from.netdev);
  put(out, "pci", from.pci);
  return out;
}

Json clock(const api::ClockStatus& from) {
  Json out{{"synchronised", from.synchronised}};
  put(out, "source", from.source);
  put_number(out, "offsetMicroseconds", from.offset);
  put_number(out, "errorBoundMicroseconds", from.error_bound);
  put(out, "reference", from.reference);
  return out;
}

Json setting(const api::NcclSetting& from) {
  Json out{{"name", from.name}};
  put(out, "value", from.value);
  put(out, "source", from.source);
  return out;
}

Json topology(const api::TopologyStatus& from) {
  Json out{{"sockets", from.sockets}, {"numaNodes", from.numa_nodes}, {"cores", from.cores}, {"cpus", from.cpus}, {"memoryBytes", from.memory_bytes}};
  put(out, "gpus", from.gpus);
  return out;
}

// Without verdict and conditions.
Json observed(const api::NodeReadinessStatus& from) {
  Json out{{"observedGeneration", from.observed_generation}, {"clock", clock(from.clock)}, {"topology", topology(from.topology)}};
  put(out, "nodeUID", from.node_uid);
  put(out, "bootID", from.boot_id);
  put(out, "agentVersion", from.agent_version);
  put(out, "observedAt", from.observed_at);
  put_json(out, "findings", list_of(from.findings, finding));
  put_json(out, "interfaces", list_of(from.interfaces, interface));
  put_json(out, "rdma", list_of(from.rdma, rdma_port));
  put_json(out, "nccl", list_of(from.nccl, setting));
  return out;
}

std::vector<api::Condition> conditions_of(const api::NodeReadinessStatus& status, bool agents) {
  std::vector<api::Condition> kept;
  std::copy_if(status.conditions.begin(), status.conditions.end(), std::back_inserter(kept),
               [&](const api::Condition& condition) { return (condition.type == "Healthy") == agents; });
  return kept;
}

}  // namespace

std::string encode_agent_status(const api::Meta& meta, const api::NodeReadinessStatus& status) {
  Json body = target_of("NodeReadiness", meta);
  body["status"] = observed(status);
  put_json(body["status"], "conditions", to_json(conditions_of(status, true)));
  return text_of(body);
}

std::string encode_operator_status(const api::Meta& meta, const api::NodeReadinessStatus& status) {
  Json body = target_of("NodeReadiness", meta);
  body["status"] = Json::object();
  put(body["status"], "verdict", status.verdict);
  put_json(body["status"], "conditions", to_json(conditions_of(status, false)));
  return text_of(body);
}

std::string encode_spec(const api::NodeReadiness& report, const std::string& owner_uid) {
  Json out = target_of("NodeReadiness", report.meta);
  put(out["metadata"], "labels", report.meta.labels);
  if (!owner_uid.empty()) {
    out["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", report.meta.name}, {"uid", owner_uid}}});
  }
  out["spec"] = spec_of(report.spec);
  return text_of(out);
}

std::string encode(const api::NodeReadiness& report) {
  Json out = object_of("NodeReadiness", report.meta);
  out["spec"] = spec_of(report.spec);
  if (report.status != api::NodeReadinessStatus{}) {
    out["status"] = observed(report.status);
    put(out["status"], "verdict", report.status.verdict);
    put_json(out["status"], "conditions", to_json(report.status.conditions));
  }
  return text_of(out);
}

}  // namespace verl::codec
