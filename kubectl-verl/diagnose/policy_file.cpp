#include "kubectl-verl/diagnose/policy_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "api/readiness_policy.h"
#include "base/command_line.h"
#include "base/text.h"
#include "codec/decode.h"
#include "codec/unknown_fields.h"
#include "diagnosis/rule.h"
#include "yaml/yaml.h"

namespace verl::cli {
namespace {

using diagnosis::Policy;
using nlohmann::json;

// Where a value of the mapping goes; its type is the type that is wanted.
using Target = std::variant<bool*, std::optional<bool>*, std::string*, std::optional<std::int32_t>*, std::optional<std::int64_t>*, std::optional<double>*,
                            Microseconds*, std::vector<std::string>*>;

struct Field {
  const char* name{nullptr};
  Target target{};
};

struct Assign {
  const json& value;

  bool operator()(bool* into) const { return value.is_boolean() && (*into = value.get<bool>(), true); }
  bool operator()(std::optional<bool>* into) const { return value.is_boolean() && (*into = value.get<bool>(), true); }
  bool operator()(std::string* into) const { return value.is_string() && (*into = value.get<std::string>(), true); }
  bool operator()(std::optional<std::int32_t>* into) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > INT32_MAX) return false;
    *into = value.get<std::int32_t>();
    return true;
  }
  bool operator()(std::optional<std::int64_t>* into) const {
    return value.is_number_integer() && value.get<std::int64_t>() >= 0 && (*into = value.get<std::int64_t>(), true);
  }
  bool operator()(std::optional<double>* into) const { return value.is_number() && value.get<double>() >= 0 && (*into = value.get<double>(), true); }
  bool operator()(Microseconds* into) const {  // written in milliseconds
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 86'400'000.0) return false;
    *into = Microseconds(static_cast<std::int64_t>(value.get<double>() * 1000.0));
    return true;
  }
  bool operator()(std::vector<std::string>* into) const {
    if (!value.is_array()) return false;
    for (const json& one : value) {
      if (!one.is_string()) return false;
      into->push_back(one.get<std::string>());
    }
    return true;
  }
};

std::string_view wanted(const Target& target) {
  constexpr std::array<std::string_view, 8> kWanted{"true or false", "true or false",   "text",           "a whole number, 0 or more", "a whole number, 0 or more",
                                                    "a number, 0 or more", "milliseconds, a day at most", "a list of texts"};
  return kWanted.at(target.index());
}

// `ignored`: fields that the caller reads itself.
Result<void> read_fields(const json& mapping, const std::string& at, const std::vector<Field>& fields, const std::vector<std::string>& ignored) {
  if (!mapping.is_object()) return failure(ErrorCode::Invalid, at + ": wants a mapping");
  std::vector<std::string> names = ignored;
  for (const Field& one : fields) names.emplace_back(one.name);
  for (const auto& entry : mapping.items()) {
    const std::string& name = entry.key();
    if (std::find(ignored.begin(), ignored.end(), name) != ignored.end()) continue;
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.name == name; });
    if (field == fields.end()) {
      const std::string near = nearest_word(name, names);
      return failure(ErrorCode::Invalid, fmt::format("{}: unknown field {}{}", at, escape_controls(name), near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (!std::visit(Assign{entry.value()}, field->target)) {
      return failure(ErrorCode::Invalid, fmt::format("{}.{}: is {}, wants {}", at, name, escape_controls(shorten(entry.value().dump(-1, ' ', false, json::error_handler_t::replace), 60)), wanted(field->target)));
    }
  }
  return {};
}

Result<void> read_own(const json& document, Policy& policy) {
  const std::vector<Field> fields{{"mtuMin", &policy.mtu_min},
                                  {"rdmaMtuMin", &policy.rdma_mtu_min},
                                  {"linkGbpsMin", &policy.link_gbps_min},
                                  {"clockWarnMs", &policy.clock_warn},
                                  {"clockFailMs", &policy.clock_fail},
                                  {"allowLocalReference", &policy.allow_local_reference},
                                  {"gpus", &policy.gpus},
                                  {"rdmaDevices", &policy.rdma_devices},
                                  {"numaNodes", &policy.numa_nodes},
                                  {"fabricInterfaces", &policy.fabric_interfaces},
                                  {"controlInterface", &policy.control_interface},
                                  {"platform", &policy.platform},
                                  {"multiNode", &policy.multi_node},
                                  {"expectedNetwork", &policy.expected_network},
                                  {"ncclVersion", &policy.nccl_version},
                                  {"gpudirect", &policy.gpudirect},
                                  {"softwareRdma", &policy.software_rdma},
                                  {"rdmaResource", &policy.rdma_resource}};
  if (auto read = read_fields(document, "DiagnosisPolicy", fields, {"kind", "expectations", "suppressions"}); !read) return read;
  for (const char* list : {"expectations", "suppressions"}) {
    if (document.contains(list) && !document[list].is_array()) return failure(ErrorCode::Invalid, fmt::format("DiagnosisPolicy.{}: wants a list", list));
  }
  for (const json& one : document.value("expectations", json::array())) {
    diagnosis::Expectation& next = policy.expectations.emplace_back();
    const std::string at = fmt::format("expectations[{}]", policy.expectations.size() - 1);
    auto read = read_fields(one, at, {{"test", &next.test}, {"size", &next.size}, {"queuePairs", &next.queue_pairs}, {"bidirectional", &next.bidirectional},
                                      {"minimum", &next.minimum}, {"maximumUs", &next.maximum_us}}, {});
    if (!read) return read;
    if (next.test.empty() || (!next.minimum && !next.maximum_us)) return failure(ErrorCode::Invalid, at + ": wants test, and minimum or maximumUs");
  }
  std::vector<std::string> ids;
  for (const diagnosis::Rule& rule : diagnosis::all_rules()) ids.emplace_back(rule.id);
  for (const json& one : document.value("suppressions", json::array())) {
    diagnosis::Suppression& next = policy.suppressions.emplace_back();
    const std::string at = fmt::format("suppressions[{}]", policy.suppressions.size() - 1);
    auto read = read_fields(one, at, {{"id", &next.id}, {"subject", &next.subject}, {"node", &next.node}, {"reason", &next.reason}}, {});
    if (!read) return read;
    if (std::find(ids.begin(), ids.end(), next.id) == ids.end()) {
      const std::string near = nearest_word(next.id, ids);
      return failure(ErrorCode::Invalid, fmt::format("{}.id: no rule is called \"{}\"{}", at, escape_controls(next.id), near.empty() ? "" : "; did you mean " + near + "?"));
    }
    if (trim(next.reason).empty()) return failure(ErrorCode::Invalid, at + " (" + escape_controls(next.id) + "): wants a reason: who decided it, and why");
  }
  return {};
}

Result<void> read_readiness_policy(const std::string& text, Policy& policy) {
  const auto strangers = codec::unknown_fields<api::ReadinessPolicy>(text);
  if (!strangers) return tl::unexpected<Error>(strangers.error());
  auto read = codec::decode_object<api::ReadinessPolicy>(text);
  if (!read) return tl::unexpected<Error>(read.error());
  std::vector<std::string> faults = read->unreadable;
  if (!strangers->empty()) faults.push_back("unknown fields: " + join_some(*strangers, 5));
  if (!faults.empty()) return failure(ErrorCode::Invalid, "ReadinessPolicy: " + escape_controls(join_some(faults, 8)));
  const api::Expectations& wanted = read->spec.expectations;
  policy.mtu_min = wanted.thresholds.mtu_min;
  policy.rdma_mtu_min = wanted.thresholds.rdma_mtu_min;
  policy.link_gbps_min = wanted.thresholds.link_gbps_min;
  if (wanted.thresholds.clock_offset_max) {
    policy.clock_fail = *wanted.thresholds.clock_offset_max;
    policy.clock_warn = std::min(policy.clock_warn, policy.clock_fail);
  }
  policy.gpus = wanted.inventory.gpus;
  policy.rdma_devices = wanted.inventory.rdma_devices;
  policy.numa_nodes = wanted.inventory.numa_nodes;
  policy.fabric_interfaces = wanted.fabric_interfaces;
  policy.control_interface = wanted.control_interface;
  policy.rdma_resource = read->spec.rdma_resource;
  return {};
}

}  // namespace

Result<Policy> parse_policy(std::string_view yaml) {
  const auto documents = yaml_documents_to_json(yaml);
  if (!documents) return tl::unexpected<Error>(documents.error());
  if (documents->empty() || documents->size() > 2) {
    return failure(ErrorCode::Invalid, fmt::format("the file holds {} documents, wants a ReadinessPolicy, a DiagnosisPolicy or one of each", documents->size()));
  }
  Policy policy;
  std::vector<std::string> seen;
  bool warns = false;  // does somebody say where a warning begins?
  // Cluster limits first, so that what the other document says of them counts.
  for (const std::string kind : {"ReadinessPolicy", "DiagnosisPolicy"}) {
    for (const std::string& text : *documents) {
      const json document = json::parse(text, nullptr, false);
      const bool named = document.is_object() && document.contains("kind") && document["kind"].is_string();
      if (!named || document["kind"].get<std::string>() != kind) continue;
      if (std::find(seen.begin(), seen.end(), kind) != seen.end()) return failure(ErrorCode::Invalid, "two documents are of kind " + kind + ", wants one");
      seen.push_back(kind);
      warns = warns || document.contains("clockWarnMs");
      auto read = kind == "ReadinessPolicy" ? read_readiness_policy(text, policy) : read_own(document, policy);
      if (!read) return tl::unexpected<Error>(read.error());
    }
  }
  if (seen.size() != documents->size()) return failure(ErrorCode::Invalid, "a document is of another kind, wants kind: ReadinessPolicy or kind: DiagnosisPolicy");
  if (!warns) policy.clock_warn = std::min(policy.clock_warn, policy.clock_fail);
  if (policy.clock_warn > policy.clock_fail) return failure(ErrorCode::Invalid, "clockWarnMs is larger than clockFailMs");
  return policy;
}

}  // namespace verl::cli
