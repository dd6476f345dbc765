// Reads lspci -v, -vv, -vvv, with or without -D, -n, -nn: PCIe links of GPUs and NICs, Access Control Services of bridges, NUMA
// nodes. Capabilities that an ordinary user cannot see are unknown, not absent.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/lines.h"
#include "diagnosis/topology/pci.h"
#include "diagnosis/topology/readers.h"
#include "diagnosis/topology/values.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;

// Bits of the ACS control register in the order of the specification.
constexpr std::array<std::string_view, 7> kAcsNames{"SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans"};

struct Function {
  std::string bus_id{};
  std::string title{};             // "PCI bridge: Broadcom ..."
  DeviceKind kind{DeviceKind::Other};
  std::int32_t secondary{-1};      // buses below a bridge
  std::int32_t subordinate{-1};
  std::optional<std::uint16_t> acs{};
  bool acs_capable{false};
  bool denied{false};
  diagnosis::Evidence acs_shown{};
  PcieLink link{};
};

struct KindOf {
  std::string_view name{};
  std::string_view code{};
  DeviceKind kind{DeviceKind::Other};
};

constexpr std::array kKinds{KindOf{"PCI bridge", "0604", DeviceKind::Bridge}, KindOf{"3D controller", "0302", DeviceKind::Gpu},
                            KindOf{"VGA compatible controller", "0300", DeviceKind::Gpu}, KindOf{"Display controller", "0380", DeviceKind::Gpu},
                            KindOf{"Processing accelerators", "1200", DeviceKind::Gpu}, KindOf{"Ethernet controller", "0200", DeviceKind::Nic},
                            KindOf{"Infiniband controller", "0207", DeviceKind::Nic}, KindOf{"Network controller", "0280", DeviceKind::Nic}};

DeviceKind kind_of(std::string_view title) {
  for (const KindOf& one : kKinds) {
    const bool named = title.starts_with(one.name) || title.starts_with(std::string(one.code) + ":");
    if (!named) continue;
    if (one.kind != DeviceKind::Gpu) return one.kind;
    // The server's own graphics (ASPEED, Matrox) is no GPU.
    const bool maker = title.find("NVIDIA") != std::string_view::npos || title.find("AMD") != std::string_view::npos || title.find(" 10de:") != std::string_view::npos ||
                       title.find(" 1002:") != std::string_view::npos;
    return maker ? DeviceKind::Gpu : DeviceKind::Other;
  }
  return DeviceKind::Other;
}

// "LnkCap: Port #0, Speed 32GT/s, Width x16, ASPM ..." -> the number behind a word.
std::optional<double> number_after(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + word.size(), 16);
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789."));
  const size_t dot = digits.find('.');
  const auto whole = parse_int(digits.substr(0, dot));
  if (!whole || *whole > 1000) return std::nullopt;
  const bool half = dot != std::string_view::npos && digits.substr(dot + 1).starts_with('5');
  return static_cast<double>(*whole) + (half ? 0.5 : 0.0);
}

std::optional<std::int32_t> int_after(std::string_view line, std::string_view word) {
  const auto number = number_after(line, word);
  return number && *number > 0 ? std::optional(static_cast<std::int32_t>(*number)) : std::nullopt;
}

// "17" in "secondary=17": hexadecimal.
std::int32_t bus_after(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  if (at == std::string_view::npos) return -1;
  const auto bus = parse_hex(line.substr(at + word.size(), 2));
  return bus ? static_cast<std::int32_t>(*bus) : -1;
}

struct Control {
  std::uint16_t bits{0};
  bool whole{true};  // all seven flags are there
};

Control control_of(std::string_view line) {
  Control control;
  for (size_t i = 0; i < kAcsNames.size(); ++i) {
    const size_t at = line.find(kAcsNames[i]);
    const char sign = at != std::string_view::npos && at + kAcsNames[i].size() < line.size() ? line[at + kAcsNames[i].size()] : ' ';
    if (sign == '+') control.bits = static_cast<std::uint16_t>(control.bits | (1U << i));
    if (sign != '+' && sign != '-') control.whole = false;
  }
  return control;
}

// "17:00.0 PCI bridge: ..." with or without a domain.
std::optional<Function> parse_title(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return std::nullopt;
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || line.find('.') > blank) return std::nullopt;
  const auto bus_id = parse_bus_id(line.substr(0, blank));
  if (!bus_id) return std::nullopt;
  Function one;
  one.bus_id = *bus_id;
  one.title = shorten(trim(line.substr(blank)), 160);
  one.kind = kind_of(trim(line.substr(blank)));
  return one;
}

bool is_above(const Function& bridge, const Function& device) {
  if (bridge.secondary < 0 || bridge.subordinate < 0) return false;
  const std::vector<std::string_view> ours = split(bridge.bus_id, ':');
  const std::vector<std::string_view> theirs = split(device.bus_id, ':');
  const auto bus = parse_hex(theirs[1]);
  return ours[0] == theirs[0] && bus && static_cast<std::int32_t>(*bus) >= bridge.secondary && static_cast<std::int32_t>(*bus) <= bridge.subordinate;
}

class LspciReader {
 public:
  LspciReader(std::string_view text, const ReadOptions& options) : lines_(text, options), options_(options) {}

  Result<Reading> read() {
    while (lines_.next()) take(lines_.line());
    if (functions_.empty()) return failure(ErrorCode::Invalid, "no line of a PCI function as lspci prints it");
    Facts& facts = own_node(reading_).topology;
    std::vector<const Function*> devices;
    for (const Function& one : functions_) {
      if (one.kind == DeviceKind::Gpu || one.kind == DeviceKind::Nic) devices.push_back(&one);
    }
    std::int64_t bridges = 0;
    std::int64_t capable = 0;
    std::vector<std::string> denied;
    for (const Function& one : functions_) {
      add_values_of(one);
      if (one.kind == DeviceKind::Gpu || one.kind == DeviceKind::Nic) facts.pci_devices.push_back(one.bus_id);
      if (one.link.speed || one.link.width || one.kind == DeviceKind::Nic) facts.pcie_links.push_back(one.link);
      if (one.kind != DeviceKind::Bridge) continue;
      ++bridges;
      capable += one.acs_capable ? 1 : 0;
      if (one.denied) denied.push_back(one.bus_id);
      if (!one.acs) continue;
      AcsBridge bridge{.bus_id = one.bus_id, .control = *one.acs, .above_device = {}, .shown = one.acs_shown};
      if (!devices.empty() && devices.size() <= kMostDevices) {
        bridge.above_device = std::any_of(devices.begin(), devices.end(), [&](const Function* device) { return is_above(one, *device); });
      }
      facts.acs_bridges.push_back(std::move(bridge));
    }
    add_value(reading_, "functions", static_cast<std::int64_t>(functions_.size()));
    add_value(reading_, "bridges", bridges);
    add_value(reading_, "bridges.acs_capable", capable);
    add_value(reading_, "gpus", std::count_if(functions_.begin(), functions_.end(), [](const Function& one) { return one.kind == DeviceKind::Gpu; }));
    add_value(reading_, "nics", std::count_if(functions_.begin(), functions_.end(), [](const Function& one) { return one.kind == DeviceKind::Nic; }));
    if (!denied.empty()) {
      Finding finding = finding_of("pcie-acs-unreadable", "bridges");
      finding.seen = "access denied";
      finding.message = "the capabilities of " + join_some(denied, 8) + " were not readable: whether ACS redirects there is not known";
      finding.evidence.push_back({.source = options_.name, .line = 0, .text = {}});
      reading_.findings.push_back(std::move(finding));
    }
    return std::move(reading_);
  }

 private:
  void take(std::string_view line) {
    if (trim(line).empty()) return;
    if (auto one = parse_title(line)) {
      if (functions_.size() >= 65536) {
        diagnosis::add_unread(reading_, {.line = lines_.number(), .text = std::string(line), .why = "more than 65536 functions"});
        return;
      }
      one->link.bus_id = one->bus_id;
      one->link.kind = one->kind;
      one->link.name = one->kind == DeviceKind::Gpu ? one->bus_id : one->title;
      one->link.shown = lines_.evidence();
      functions_.push_back(std::move(*one));
      return;
    }
    const bool indented = line.front() == ' ' || line.front() == '\t';
    if (functions_.empty() || !indented) {
      diagnosis::add_unread(reading_, {.line = lines_.number(), .text = std::string(line), .why = "no line of a PCI function"});
      return;
    }
    take_detail(trim(line), functions_.back());
  }

  void take_detail(std::string_view line, Function& one) {
    if (line.starts_with("Bus: primary=")) {
      one.secondary = bus_after(line, "secondary=");
      one.subordinate = bus_after(line, "subordinate=");
    } else if (line.starts_with("Capabilities: <access denied>")) {
      one.denied = true;
    } else if (line.starts_with("ACSCap:")) {
      one.acs_capable = true;
    } else if (line.starts_with("ACSCtl:")) {
      const Control control = control_of(line);
      one.acs = control.bits;
      one.acs_capable = true;
      one.acs_shown = lines_.evidence();
      if (!control.whole) mark_incomplete(reading_, options_, one.bus_id, "the ACS control line of " + one.bus_id + " is cut");
    } else if (line.starts_with("LnkCap:")) {
      one.link.speed_max = number_after(line, "Speed ");
      one.link.width_max = int_after(line, "Width x");
    } else if (line.starts_with("LnkSta:")) {
      one.link.speed = number_after(line, "Speed ");
      one.link.width = int_after(line, "Width x");
      one.link.shown = lines_.evidence();
    } else if (line.starts_with("NUMA node:")) {
      if (const auto node = parse_int(trim(line.substr(10)))) add_value(reading_, "pci[" + one.bus_id + "].numa", *node);
    }
  }

  void add_values_of(const Function& one) {
    const std::string label = "pci[" + one.bus_id + "]";
    const bool telling = one.kind != DeviceKind::Other || one.acs || one.link.speed;
    if (!telling) return;
    add_value(reading_, label + ".title", one.title);
    if (one.link.speed) add_value(reading_, label + ".link_speed", *one.link.speed, "GT/s");
    if (one.link.speed_max) add_value(reading_, label + ".link_speed_max", *one.link.speed_max, "GT/s");
    if (one.link.width) add_value(reading_, label + ".link_width", static_cast<std::int64_t>(*one.link.width));
    if (one.link.width_max) add_value(reading_, label + ".link_width_max", static_cast<std::int64_t>(*one.link.width_max));
    if (one.acs) add_value(reading_, label + ".acs_control", fmt::format("0x{:04x}", *one.acs));
  }

  Lines lines_;
  const ReadOptions& options_;
  Reading reading_{};
  std::vector<Function> functions_{};
};

}  // namespace

int lspci_likeness(std::string_view head) {
  ReadOptions plain;
  Lines lines(head, plain);
  int titles = 0;
  for (int i = 0; i < 200 && lines.next(); ++i) {
    if (const auto one = parse_title(lines.line())) {
      // "17:00.0 PCI bridge: ..." or, with -n, "17:00.0 0604: 1000:c030".
      if (one->title.find(": ") != std::string::npos) ++titles;
    }
  }
  if (titles == 0) return 0;
  const bool details = head.find("\n\t") != std::string_view::npos || head.find("Capabilities:") != std::string_view::npos;
  return details || titles > 3 ? 90 : 60;
}

Result<Reading> read_lspci(std::string_view text, const ReadOptions& options) { return LspciReader(text, options).read(); }

}  // namespace verl::topology
