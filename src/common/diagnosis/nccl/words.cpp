// Words and lists of words: levels, families, algorithms, protocols, debug levels and subsystems, address ranges.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/algorithm_list.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/rdma/address.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr Version kInvalidIsFatal = version(2, 24);
constexpr Version kWholeListRejected = version(2, 30, 7);

std::string any_of_words(std::string_view tokens) {
  std::string text;
  for (const char c : tokens) text += c == '|' ? std::string(", ") : std::string(1, c);
  return text;
}

bool has_blank(std::string_view text) { return text.find_first_of(" \t\r\"'") != std::string_view::npos; }  // another rule speaks of it

void lint_level(const Linted& linted, std::string_view name, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, name);
  if (!setting) return;
  const std::string_view text = meant_text(*setting);
  if (text.empty() || has_blank(text) || read_level(name, text, linted.version)) return;
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  const bool case_only = read_level(name, upper, linted.version).has_value();
  const bool later = read_level(name, text, std::nullopt).has_value();
  Finding finding = about("NCCL012", *setting,
                          case_only ? fmt::format("levels are upper case: {} ignores \"{}\"", library(linted.version), text)
                          : later   ? fmt::format("{} does not know the level {} and ignores it", library(linted.version), text)
                                    : fmt::format("\"{}\" is no level: {} ignores it", escape_controls(text), library(linted.version)));
  finding.wanted = case_only ? upper : level_words(name, linted.version);
  if (case_only) finding.remedy = fmt::format("write {}={}", name, upper);
  out.push_back(std::move(finding));
}

bool one_of(std::string_view tokens, std::string_view text, bool exact) {
  for (const std::string_view token : split(tokens, '|')) {
    if (exact ? token == text : equal_ignoring_case(token, text)) return true;
  }
  return false;
}

bool is_word(const Variable& variable, std::string_view text) {
  if (variable.name == "NCCL_SOCKET_FAMILY" || variable.name == "NCCL_IB_ADDR_FAMILY") return one_of(variable.tokens, text, true);
  if (variable.name == "NCCL_NETDEVS_POLICY") {
    const auto number = text.size() > 4 && equal_ignoring_case(text.substr(0, 4), "MAX:") ? parse_int(text.substr(4)) : std::nullopt;
    return equal_ignoring_case(text, "AUTO") || equal_ignoring_case(text, "ALL") || (number && *number >= 1);
  }
  if (variable.name == "NCCL_CTA_POLICY") {
    if (text == "0" || text == "1" || text == "2") return true;
    const auto words = split(text, '|');
    return std::all_of(words.begin(), words.end(), [&](std::string_view word) { return one_of(variable.tokens, word, false); });
  }
  return one_of(variable.tokens, text, false);
}

void lint_word(const Linted& linted, std::string_view name, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, name);
  const Variable* variable = variable_named(name);
  if (!setting || !variable) return;
  const std::string_view text = meant_text(*setting);
  if (text.empty() || has_blank(text) || is_word(*variable, text)) return;
  const std::string_view standard = variable->standard.empty() ? "unset" : variable->standard;
  Finding finding = about("NCCL013", *setting, fmt::format("\"{}\" is none of {}: NCCL goes on as with {}", escape_controls(text), any_of_words(variable->tokens), standard));
  finding.wanted = any_of_words(variable->tokens);
  out.push_back(std::move(finding));
}

void lint_algorithms(const Linted& linted, std::string_view name, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, name);
  if (!setting) return;
  const std::string_view text = meant_text(*setting);
  if (text.empty() || has_blank(text)) return;
  const AlgorithmList list = read_algorithms(name, text, linted.version);
  if (list.unknown.empty() && !list.misplaced) return;
  const bool fatal = !linted.version || *linted.version >= kInvalidIsFatal;
  const std::string unknown = escape_controls(join(list.unknown, ", "));
  std::string message = list.unknown.empty() ? std::string("only the first part of a list per function may go without a function")
                                             : fmt::format("{} does not know {}", library(linted.version), unknown);
  message += fatal ? ": initialisation fails" : list.nothing_left ? ": nothing is left enabled and initialisation fails" : ": it is skipped";
  if (!linted.version) message += " from 2.24 on; before, it is skipped";
  Finding finding = about(fatal ? "NCCL014" : "NCCL015", *setting, std::move(message));
  finding.wanted = algorithm_words(name, linted.version);
  out.push_back(std::move(finding));
}

struct Subsystem {
  std::string_view word{};
  Version since{0};
};

// src/include/debug.h and src/debug.cc by release
constexpr std::array kSubsystems{
    Subsystem{"INIT", 0}, Subsystem{"COLL", 0}, Subsystem{"P2P", 0}, Subsystem{"SHM", 0}, Subsystem{"NET", 0}, Subsystem{"GRAPH", 0},
    Subsystem{"TUNING", 0}, Subsystem{"ENV", 0}, Subsystem{"ALLOC", 0}, Subsystem{"CALL", version(2, 13)}, Subsystem{"NVLS", version(2, 17)},
    Subsystem{"PROXY", version(2, 18)}, Subsystem{"BOOTSTRAP", version(2, 21)}, Subsystem{"REG", version(2, 21)}, Subsystem{"PROFILE", version(2, 22)},
    Subsystem{"RAS", version(2, 24)}, Subsystem{"DESTROY", version(2, 30, 3)}, Subsystem{"ALLOC_HOST", version(2, 30, 7)}, Subsystem{"ALL", 0},
};

bool is_subsystem(std::string_view word, std::optional<Version> version) {
  return std::any_of(kSubsystems.begin(), kSubsystems.end(), [&](const Subsystem& one) { return equal_ignoring_case(one.word, word) && (!version || *version >= one.since); });
}

void lint_debug(const Linted& linted, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_DEBUG");
  if (!setting) return;
  const std::string_view text = meant_text(*setting);
  const std::string_view tokens = variable_named("NCCL_DEBUG")->tokens;
  if (text.empty() || has_blank(text) || one_of(tokens, text, false)) return;
  const bool newer = equal_ignoring_case(text, "ATTN") && (!linted.version || *linted.version >= version(2, 31));
  if (newer) return;
  Finding finding = about("NCCL016", *setting, fmt::format("\"{}\" is no level: nothing is printed at all", escape_controls(text)));
  finding.wanted = any_of_words(tokens);
  out.push_back(std::move(finding));
}

void lint_subsystems(const Linted& linted, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_DEBUG_SUBSYS");
  if (!setting) return;
  std::string_view text = meant_text(*setting);
  if (text.empty() || has_blank(text)) return;
  if (text.starts_with('^')) text.remove_prefix(1);
  std::vector<std::string> unknown;
  size_t known = 0;
  for (const std::string_view word : split(text, ',')) {
    if (word.empty()) continue;
    if (is_subsystem(word, linted.version)) ++known; else unknown.emplace_back(word);
  }
  if (unknown.empty()) return;
  const bool whole = linted.version && *linted.version >= kWholeListRejected;
  Finding finding = about("NCCL016", *setting,
                          fmt::format("{} does not know the subsystem {}: {}", library(linted.version), escape_controls(join(unknown, ", ")),
                                      whole        ? "the whole list is left and the default used"
                                      : known == 0 ? "no subsystem is left, nothing is printed, not even warnings"
                                                   : "it is skipped"));
  if (linted.version && *linted.version > kCatalogued) finding.severity = Severity::Info;
  out.push_back(std::move(finding));
}

void lint_range(const Linted& linted, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_IB_ADDR_RANGE");
  if (!setting || setting->setting.value.empty()) return;
  const std::string_view text = meant_text(*setting);
  if (has_blank(text)) return;
  const auto range = rdma::parse_address(text);
  const bool six = value_of(linted.environment, "NCCL_IB_ADDR_FAMILY").value_or("") == "AF_INET6";
  const auto family = six ? rdma::AddressFamily::Inet6 : rdma::AddressFamily::Inet4;
  std::string message;
  if (!range || !range->prefix) {
    message = fmt::format("\"{}\" has no prefix length after a \"/\": NCCL ignores it", escape_controls(text));
  } else if (range->family != family) {
    message = fmt::format("{} is not of the family {} that GIDs are chosen by: NCCL ignores it", text, six ? "AF_INET6" : "AF_INET");
  } else {
    return;
  }
  out.push_back(about("NCCL018", *setting, std::move(message)));
}

}  // namespace

void lint_words(const Linted& linted, Findings& out) {
  for (const std::string_view name : {"NCCL_P2P_LEVEL", "NCCL_NET_GDR_LEVEL", "NCCL_NET_MERGE_LEVEL"}) lint_level(linted, name, out);
  for (const std::string_view name : {"NCCL_SOCKET_FAMILY", "NCCL_IB_ADDR_FAMILY", "NCCL_LAUNCH_MODE", "NCCL_CHECK_MODE", "NCCL_NETDEVS_POLICY",
                                      "NCCL_NET_MERGE_POLICY", "NCCL_CTA_POLICY"}) {
    lint_word(linted, name, out);
  }
  for (const std::string_view name : {"NCCL_ALGO", "NCCL_PROTO"}) lint_algorithms(linted, name, out);
  lint_debug(linted, out);
  lint_subsystems(linted, out);
  lint_range(linted, out);
}

}  // namespace verl::nccl
