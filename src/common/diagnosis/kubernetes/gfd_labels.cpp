// Labels of GPU feature discovery, as "nvidia.com/name=value" lines or on a Node. Every value is text: driver revision 08 is no number.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/kubernetes/manifest.h"
#include "diagnosis/kubernetes/readers.h"
#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

// "nvidia.com/gpu.count=4", or as an annotation is printed, "nvidia.com/x: true".
std::optional<std::pair<std::string_view, std::string_view>> label_of(std::string_view line) {
  line = trim(line);
  for (const std::string_view heading : {"Labels:", "Annotations:"}) {
    if (line.starts_with(heading)) line = trim(line.substr(heading.size()));
  }
  const size_t end = line.find_first_of("=:");
  if (end == std::string_view::npos || line.find('/') > end) return std::nullopt;
  return time_text::key_value(line, line[end]);
}

std::string value_of(const Pairs& labels, std::string_view name) {
  const auto found = std::find_if(labels.begin(), labels.end(), [&](const auto& one) { return one.first == name; });
  return found == labels.end() ? std::string{} : found->second;
}

void report(Reading& reading, std::string_view id, const std::string& node, std::string subject, std::string seen, std::string message) {
  Finding finding = finding_of(id, std::move(subject));
  if (!node.empty()) finding.nodes = {node};
  finding.seen = std::move(seen);
  finding.message = std::move(message);
  reading.findings.push_back(std::move(finding));
}

}  // namespace

void manifest::judge_gpu_labels(Reading& reading, const Pairs& labels, const std::string& node, const std::string& value_path) {
  using time_text::put;
  const auto text = [&](std::string_view label, std::string_view name) {
    std::string value = value_of(labels, label);
    if (!value.empty()) put(reading, value_path + std::string(name), value);
    return value;
  };
  const auto number = [&](std::string_view label, std::string_view name, std::string unit) {
    const auto value = parse_int(value_of(labels, label));
    if (value) put(reading, value_path + std::string(name), *value, std::move(unit));
    return value;
  };
  const std::string product = text("nvidia.com/gpu.product", "gpu.product");
  number("nvidia.com/gpu.count", "gpu.count", "");
  number("nvidia.com/gpu.memory", "gpu.memory", "MiB");
  const auto replicas = number("nvidia.com/gpu.replicas", "gpu.replicas", "");
  const std::string sharing = text("nvidia.com/gpu.sharing-strategy", "gpu.sharing_strategy");
  const std::string machine = text("nvidia.com/gpu.machine", "gpu.machine");
  text("nvidia.com/mig.capable", "mig.capable");
  text("nvidia.com/mig.strategy", "mig.strategy");
  const std::string config = text("nvidia.com/mig.config", "mig.config");
  std::string driver = value_of(labels, "nvidia.com/cuda.driver-version.full");
  if (driver.empty() && !value_of(labels, "nvidia.com/cuda.driver.major").empty()) {
    driver = value_of(labels, "nvidia.com/cuda.driver.major") + "." + value_of(labels, "nvidia.com/cuda.driver.minor");
    if (const std::string revision = value_of(labels, "nvidia.com/cuda.driver.rev"); !revision.empty()) driver += "." + revision;
  }
  if (!driver.empty()) put(reading, value_path + "driver", driver);
  const bool shared = (replicas && *replicas > 1) || product.ends_with("-SHARED") || (!sharing.empty() && sharing != "none");
  put(reading, value_path + "gpu.shared", shared);
  if (shared) {
    report(reading, "gpu-shared", node, product.empty() ? "GPU" : product, fmt::format("{} replicas, {}", replicas.value_or(0), sharing.empty() ? "sharing" : sharing),
           fmt::format("each GPU is shared ({} replicas, {}): the count of GPUs is inflated, training on it is refused", replicas.value_or(0), sharing.empty() ? "no strategy named" : sharing));
  }
  // mig.capable and mig.strategy say what could be; a slice in the product's name or a layout says that it is.
  const bool mig = product.find("MIG-") != std::string::npos || (!config.empty() && config != "all-disabled" && config.find("disabled") == std::string::npos) ||
                   std::any_of(labels.begin(), labels.end(), [](const auto& one) { return one.first.starts_with("nvidia.com/mig-") && one.first.ends_with(".count") && one.second != "0"; });
  put(reading, value_path + "mig.enabled", mig);
  if (mig) report(reading, "gpu-mig", node, product.empty() ? "GPU" : product, config, fmt::format("MIG is on ({}): GPUs are slices, training needs whole ones", config.empty() ? product : config));
  for (const std::string_view sign : {"Q35", "Standard-PC", "KVM", "Virtual", "VMware", "Google-Compute-Engine", "OpenStack", "HVM"}) {
    if (machine.find(sign) == std::string::npos) continue;
    put(reading, value_path + "virtual_machine", true);
    report(reading, "node-virtual-machine", node, machine, machine, fmt::format("the machine type {} is a virtual machine: NUMA nodes and PCIe links seen inside may be virtual", machine));
    break;
  }
}

int like_gfd_labels(std::string_view head) {
  int labels = 0;
  int lines = 0;
  for (const std::string_view line : split(head.substr(0, 16384), '\n')) {
    if (time_text::is_scenery(line)) continue;
    ++lines;
    const auto label = label_of(line);
    if (label && label->first.starts_with("nvidia.com/")) ++labels;
  }
  return labels >= 3 && labels * 2 >= lines ? 90 : 0;
}

Result<Reading> read_gfd_labels(std::string_view text, const ReadOptions& options) {
  Reading reading;
  Pairs labels;
  for (const time_text::Line& one : time_text::lines_of(text, options)) {
    if (time_text::is_scenery(one.text)) continue;
    const auto label = label_of(one.text);
    if (!label) {
      time_text::unread(reading, one, "not a label");
      continue;
    }
    if (labels.size() >= 10000) break;
    labels.emplace_back(label->first, label->second);
    time_text::put(reading, "labels." + std::string(label->first), std::string(label->second));
  }
  if (labels.empty()) return failure(ErrorCode::Invalid, "no label is in it");
  manifest::judge_gpu_labels(reading, labels, "", "");
  return reading;
}

}  // namespace verl::diagnosis
