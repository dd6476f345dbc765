#include "codec/kinds.h"

namespace verl::codec {
namespace {

void read_domain(Element value, api::DomainName& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "level") read(field, out.level, place, faults);
    if (key == "domain") read(field, out.domain, place, faults);
  });
}

void read_spec(Element value, api::NodeReadinessSpec& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "nodeUID") {
      read(field, out.node_uid, place, faults);
    } else if (key == "address") {
      read(field, out.address, place, faults);
    } else if (key == "gpus") {
      read(field, out.gpus, place, faults);
    } else if (key == "domains") {
      read_list(field, out.domains, place, faults,
                [&](Element item, api::DomainName& domain, const Place& where) { read_domain(item, domain, where, faults); });
    } else if (key == "policy") {
      read(field, out.policy, place, faults);
    } else if (key == "policyGeneration") {
      read(field, out.policy_generation, place, faults);
    } else if (key == "expectations") {
      read(field, out.expectations, place, faults);
    }
  });
}

void read_finding(Element value, Finding& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, Verdict> kVerdicts[] = {{"Pass", Verdict::Pass},
                                                                       {"Warn", Verdict::Warn},
                                                                       {"Fail", Verdict::Fail},
                                                                       {"Unknown", Verdict::Unknown},
                                                                       {"Skipped", Verdict::Skipped}};
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "check") {
      read(field, out.check, place, faults);
    } else if (key == "verdict") {
      read_word(field, out.verdict, kVerdicts, place, faults);
    } else if (key == "subject") {
      read(field, out.subject, place, faults);
    } else if (key == "seen") {
      read(field, out.seen, place, faults);
    } else if (key == "wanted") {
      read(field, out.wanted, place, faults);
    } else if (key == "remedy") {
      read(field, out.remedy, place, faults);
    } else if (key == "message") {
      read(field, out.message, place, faults);
    }
  });
}

void read_interface(Element value, api::InterfaceStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "name") {
      read(field, out.name, place, faults);
    } else if (key == "up") {
      read(field, out.up, place, faults);
    } else if (key == "mtu") {
      read(field, out.mtu, place, faults);
    } else if (key == "speedMbps") {
      read(field, out.speed_mbps, place, faults);
    } else if (key == "pci") {
      read(field, out.pci, place, faults);
    } else if (key == "numaNode") {
      read(field, out.numa_node, place, faults);
    } else if (key == "control") {
      read(field, out.control, place, faults);
    } else if (key == "fabric") {
      read(field, out.fabric, place, faults);
    } else if (key == "addresses") {
      read(field, out.addresses, place, faults);
    }
  });
}

void read_rdma_port(Element value, api::RdmaPortStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "device") {
      read(field, out.device, place, faults);
    } else if (key == "port") {
      read(field, out.port, place, faults);
    } else if (key == "state") {
      read(field, out.state, place, faults);
    } else if (key == "linkLayer") {
      read(field, out.link_layer, place, faults);
    } else if (key == "activeMTU") {
      read(field, out.active_mtu, place, faults);
    } else if (key == "rateGbps") {
      read(field, out.rate_gbps, place, faults);
    } else if (key == "netdev") {
      read(field, out.netdev, place, faults);
    } else if (key == "pci") {
      read(field, out.pci, place, faults);
    } else if (key == "numaNode") {
      read(field, out.numa_node, place, faults);
    }
  });
}

void read_clock(Element value, api::ClockStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "source") {
      read(field, out.source, place, faults);
    } else if (key == "synchronised") {
      read(field, out.synchronised, place, faults);
    } else if (key == "offsetMicroseconds") {
      read(field, out.offset, place, faults);
    } else if (key == "errorBoundMicroseconds") {
      read(field, out.error_bound, place, faults);
    } else if (key == "reference") {
      read(field, out.reference, place, faults);
    }
  });
}

void read_setting(Element value, api::NcclSetting& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "name") read(field, out.name, place, faults);
    if (key == "value") read(field, out.value, place, faults);
    if (key == "source") read(field, out.source, place, faults);
  });
}

void read_topology(Element value, api::TopologyStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "sockets") {
      read(field, out.sockets, place, faults);
    } else if (key == "numaNodes") {
      read(field, out.numa_nodes, place, faults);
    } else if (key == "cores") {
      read(field, out.cores, place, faults);
    } else if (key == "cpus") {
      read(field, out.cpus, place, faults);
    } else if (key == "memoryBytes") {
      read(field, out.memory_bytes, place, faults);
    } else if (key == "gpus") {
      read(field, out.gpus, place, faults);
    }
  });
}

void read_observed(Element value, api::NodeReadinessStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "findings") {
      read_list(field, out.findings, place, faults, [&](Element item, Finding& finding, const Place& where) { read_finding(item, finding, where, faults); });
    } else if (key == "interfaces") {
      read_list(field, out.interfaces, place, faults,
                [&](Element item, api::InterfaceStatus& one, const Place& where) { read_interface(item, one, where, faults); });
    } else if (key == "rdma") {
      read_list(field, out.rdma, place, faults,
                [&](Element item, api::RdmaPortStatus& port, const Place& where) { read_rdma_port(item, port, where, faults); });
    } else if (key == "clock") {
      read_clock(field, out.clock, place, faults);
    } else if (key == "nccl") {
      read_list(field, out.nccl, place, faults,
                [&](Element item, api::NcclSetting& setting, const Place& where) { read_setting(item, setting, where, faults); });
    } else if (key == "topology") {
      read_topology(field, out.topology, place, faults);
    }
  });
}

void read_status(Element value, api::NodeReadinessStatus& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "observedGeneration") {
      read(field, out.observed_generation, place, faults);
    } else if (key == "nodeUID") {
      read(field, out.node_uid, place, faults);
    } else if (key == "bootID") {
      read(field, out.boot_id, place, faults);
    } else if (key == "agentVersion") {
      read(field, out.agent_version, place, faults);
    } else if (key == "observedAt") {
      read(field, out.observed_at, place, faults);
    } else if (key == "verdict") {
      read(field, out.verdict, place, faults);
    } else if (key == "conditions") {
      read(field, out.conditions, place, faults);
    }
  });
  if (value.is_object()) read_observed(value, out, at, faults);
}

}  // namespace

void read_object(Element value, api::NodeReadiness& out) {
  const Place root;
  Faults faults(out.unreadable);
  each_field(value, root, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "metadata") {
      read(field, out.meta, place, faults);
    } else if (key == "spec") {
      read_spec(field, out.spec, place, faults);
    } else if (key == "status") {
      read_status(field, out.status, place, faults);
    }
  });
}

}  // namespace verl::codec
