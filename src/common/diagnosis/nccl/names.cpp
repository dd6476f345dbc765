// Names: misspelt, never read, removed, too new, deprecated, of plugins; and what hangs on a release nobody told.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/algorithm_list.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/nearest.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr Version kInEveryImage = version(2, 18);  // what came before is taken for present when the release is not known

bool is_label(std::string_view name) { return name == "NCCL_VERSION" || name.starts_with("NV_LIBNCCL_"); }

bool is_own(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOwn{"NCCL_", "NCCLXFER_", "TORCH_NCCL_", "TORCH_FR_", "GLOO_"};
  return std::any_of(kOwn.begin(), kOwn.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void lint_unknown(const Linted& linted, const EffectiveSetting& setting, Findings& out) {
  const std::string_view name = setting.setting.name;
  if (is_label(name) || name.find_first_of(" \t#") != std::string_view::npos) return;  // another rule speaks of it
  const bool newer = linted.version && *linted.version > kCatalogued;
  if (name.starts_with("NCCL_OFI_")) {
    const std::string meant = "OFI_NCCL_" + std::string(name.substr(9));
    Finding finding = about("NCCL108", setting, fmt::format("nobody reads {}: the AWS plugin's variables begin with OFI_NCCL_", name));
    finding.wanted = meant;
    finding.remedy = "rename it to " + meant;
    out.push_back(std::move(finding));
    return;
  }
  const bool partly_known = name.starts_with("UCX_") || name.starts_with("FI_");  // hundreds of names, a few of them here
  if (partly_known) return;
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  const Variable* capital = variable_named(upper);  // names are case-sensitive
  if (const std::string_view nearest = capital ? capital->name : nearest_name(name); !nearest.empty()) {
    Finding finding = about("NCCL101", setting, fmt::format("nobody reads {}; did you mean {}?", name, nearest));
    finding.wanted = nearest;
    finding.remedy = fmt::format("rename it to {}", nearest);
    if (newer) finding.severity = Severity::Info;
    out.push_back(std::move(finding));
    return;
  }
  if (!is_own(name)) return;
  const std::string_view related = related_name(name);
  Finding finding = about("NCCL102", setting,
                          fmt::format("{} is not known to upstream NCCL and may belong to a vendor build{}", name,
                                      related.empty() ? "" : fmt::format("; did you mean {}?", related)));
  finding.wanted = related;
  if (newer) {
    finding.severity = Severity::Info;
    finding.message = fmt::format("{} is not known here; NCCL {} is newer than this catalogue and may read it", name, to_string(*linted.version));
  } else if (!name.starts_with("NCCL_")) {
    finding.message = fmt::format("{} is not known here: PyTorch or Gloo may have a newer name for it", name);
    finding.severity = Severity::Info;
  }
  out.push_back(std::move(finding));
}

void lint_nonexistent(const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const bool by_verl = variable.name == "NCCL_DETERMINISTIC";  // verl sets and forwards it for full determinism
  Finding finding = about("NCCL103", setting,
                          by_verl ? std::string("NCCL does not read NCCL_DETERMINISTIC; verl sets it")
                                  : fmt::format("{} is not known to upstream NCCL and may belong to a vendor build{}", variable.name,
                                                variable.use.empty() ? "" : fmt::format("; did you mean {}?", variable.use)));
  finding.wanted = variable.use;
  if (!variable.use.empty()) finding.remedy = fmt::format("use {}, or remove it", variable.use);
  if (by_verl) finding.severity = Severity::Info;
  if (variable.name == "NCCL_IB_MTU") finding.remedy = "remove it: the path MTU comes from the ports' active MTU";
  if (variable.name == "NCCL_TIMEOUT") finding.remedy = "remove it: timeouts of collectives belong to the framework (init_process_group)";
  out.push_back(std::move(finding));
}

void lint_release(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  constexpr Version kOldest = version(2, 12);  // older ones do not occur with the frameworks of today
  const bool removed = variable.status == Status::Removed && (linted.version ? *linted.version >= variable.at : variable.at <= kOldest);
  if (removed) {
    Finding finding = about("NCCL104", setting, fmt::format("{} was removed in {}: it has no effect", variable.name, to_string(variable.at)));
    finding.wanted = variable.use.empty() ? "unset" : variable.use;
    if (!variable.use.empty()) finding.remedy = fmt::format("use {}", variable.use);
    out.push_back(std::move(finding));
  } else if (linted.version && *linted.version < variable.since) {
    Finding finding = about("NCCL105", setting, fmt::format("{} came with {}: {} does not read it", variable.name, to_string(variable.since), library(linted.version)));
    finding.wanted = fmt::format("{} or later", to_string(variable.since));
    out.push_back(std::move(finding));
  } else if (variable.status == Status::Dead) {
    out.push_back(about("NCCL107", setting, fmt::format("{} is defined and never read", variable.name)));
  }
}

void lint_deprecated(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const std::string_view text = meant_text(setting);
  const bool level = variable.type == Type::Level && !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (level) {
    if (const auto read = read_level(variable.name, text, linted.version)) {
      Finding finding = about("NCCL106", setting, fmt::format("numbered levels are old: {} is read as {}", text, *read));
      finding.wanted = *read;
      out.push_back(std::move(finding));
    }
    return;
  }
  if (variable.name == "NCCL_LAUNCH_MODE" && equal_ignoring_case(text, "GROUP")) {
    out.push_back(about("NCCL106", setting, "the launch mode GROUP is deprecated since 2.9"));
    return;
  }
  if (variable.status != Status::Deprecated || (linted.version && variable.at > *linted.version)) return;
  const EffectiveSetting* successor = variable.use.empty() ? nullptr : setting_named(linted.environment, variable.use);
  Finding finding = about("NCCL106", setting, successor ? fmt::format("{} and its successor {} are both set: {}", variable.name, variable.use,
                                                                      variable.name.find("CHANNELS") != std::string_view::npos ? "the more restrictive one counts" : "one of them is lost")
                                                        : fmt::format("{} is deprecated{}", variable.name, variable.use.empty() ? "" : fmt::format(", use {}", variable.use)));
  finding.wanted = variable.use;
  if (successor) {
    finding.severity = Severity::Warning;
    finding.evidence.push_back(evidence_of(*successor));
  }
  out.push_back(std::move(finding));
}

void lint_legacy(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const EffectiveSetting* successor = setting_named(linted.environment, variable.use);
  const bool differ = successor && successor->setting.value != setting.setting.value;
  Finding finding = about("NCCL110", setting, differ ? fmt::format("{}={} counts, {}={} has no effect, and PyTorch reads both", variable.use, shorten(successor->setting.value, 40),
                                                                   variable.name, shorten(setting.setting.value, 40))
                                                     : fmt::format("{} is the old name of {}", variable.name, variable.use));
  finding.wanted = variable.use;
  finding.remedy = fmt::format("use {} only", variable.use);
  if (differ) {
    finding.severity = Severity::Warning;
    finding.evidence.push_back(evidence_of(*successor));
  }
  out.push_back(std::move(finding));
}

struct PluginNetwork {
  Layer layer{Layer::SharpPlugin};
  std::string_view name{};  // of the network the plugin registers, or its beginning
};

constexpr std::array kNetworks{PluginNetwork{Layer::AwsOfi, "AWS Libfabric"}, PluginNetwork{Layer::GcpTcpx, "GPUDirectTCPX"},
                               PluginNetwork{Layer::GcpFastrak, "FasTrak"}, PluginNetwork{Layer::SharpPlugin, "IBext"}};

void lint_plugin(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const auto plugin = std::find_if(kNetworks.begin(), kNetworks.end(), [&](const PluginNetwork& one) { return one.layer == variable.layer; });
  const auto& host = linted.node.nccl.host;
  if (plugin == kNetworks.end() || !host.networks) return;
  const std::string_view network = plugin->name;
  const bool there = std::any_of(host.networks->begin(), host.networks->end(), [&](const std::string& one) { return one.starts_with(network); });
  const bool sharp = variable.layer == Layer::SharpPlugin && host.sharp_plugin != false && host.sharp_plugin.has_value();
  if (there || sharp) return;
  out.push_back(about("NCCL109", setting, fmt::format("{} is read by the plugin of the network {}, which is not there", variable.name, network)));
}

// Does what NCCL makes of it hang on the release?
bool varies(const EffectiveSetting& setting, const Variable* variable) {
  if (!variable || !of_libnccl(*variable) || !variable->name.starts_with("NCCL_")) return false;
  const std::string_view text = meant_text(setting);
  if (variable->status == Status::Removed) return variable->at > version(2, 12);
  if (variable->since > kInEveryImage) return true;
  if (variable->name == "NCCL_ALGO" || variable->name == "NCCL_PROTO") return read_algorithms(variable->name, text, std::nullopt).varies;
  if (variable->type == Type::Level) return text == "C2C" || text == "P2C";
  const bool integer = variable->type == Type::Bool || variable->type == Type::Int;
  return integer && !reads_as_integer(*variable, std::nullopt) && !read_integer(text).digits && !text.empty();  // a reader that changed
}

void lint_unknown_release(const Linted& linted, Findings& out) {
  if (linted.version) return;
  std::vector<std::string> names;
  const EffectiveSetting* label = nullptr;
  Finding finding = diagnosis::finding_of("NCCL111", "NCCL version");
  for (const EffectiveSetting& setting : linted.environment.settings) {
    if (is_label(setting.setting.name)) label = &setting;
    if (!varies(setting, variable_named(setting.setting.name))) continue;
    names.push_back(setting.setting.name);
    finding.evidence.push_back(evidence_of(setting));
  }
  if (names.empty()) return;
  finding.message = fmt::format("what NCCL makes of {} depends on its release, which is not known", join_some(names, 6));
  out.push_back(std::move(finding));
  if (!label) return;
  out.push_back(about("NCCL112", *label, fmt::format("{}={} is a label of the image: the library that is loaded may be another", label->setting.name, shorten(label->setting.value, 40))));
}

}  // namespace

void lint_names(const Linted& linted, Findings& out) {
  for (const EffectiveSetting& setting : linted.environment.settings) {
    const Variable* variable = variable_named(setting.setting.name);
    if (!variable) {
      lint_unknown(linted, setting, out);
    } else if (variable->layer == Layer::Nonexistent) {
      lint_nonexistent(setting, *variable, out);
    } else if (variable->layer == Layer::PyTorchLegacy) {
      lint_legacy(linted, setting, *variable, out);
    } else {
      if (of_libnccl(*variable) && variable->name.starts_with("NCCL_")) lint_release(linted, setting, *variable, out);
      lint_deprecated(linted, setting, *variable, out);
      lint_plugin(linted, setting, *variable, out);
    }
  }
  lint_unknown_release(linted, out);
}

}  // namespace verl::nccl
