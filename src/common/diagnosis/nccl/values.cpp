// Values that NCCL reads otherwise than they look: integers, quotes, blanks, empty texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/read_value.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

std::string_view unquoted(std::string_view text) {
  if (text.size() < 2 || (text.front() != '"' && text.front() != '\'') || text.back() != text.front()) return text;
  return text.substr(1, text.size() - 2);
}

bool is_quoted(std::string_view text) { return !text.empty() && (text.front() == '"' || text.front() == '\''); }

// "4M": the bytes that were meant; nothing when the rest is no suffix or the number too large.
std::optional<std::int64_t> meant_bytes(const IntegerText& read) {
  std::string_view rest = trim(read.rest);
  if (rest.empty() || !read.number || *read.number < 0) return std::nullopt;
  const size_t power = std::string_view("KMGTkmgt").find(rest.front());
  if (power == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(1);
  if (!rest.empty() && rest != "B" && rest != "b" && rest != "iB" && rest != "i") return std::nullopt;
  const int shift = 10 * (static_cast<int>(power % 4) + 1);
  if (*read.number > (std::int64_t{1} << (62 - shift))) return std::nullopt;
  return *read.number << shift;
}

// Hexadecimal is how people write these.
bool hexadecimal_is_usual(std::string_view name) { return name == "NCCL_MNNVL_UUID" || name == "NCCL_MNNVL_CLIQUE_ID" || name.ends_with("_MASK"); }

void lint_no_number(const EffectiveSetting& setting, const Variable& variable, std::string_view text, Findings& out) {
  if (acts_on_one_only(variable.name)) {
    Finding finding = about("NCCL017", setting, fmt::format("{} is no number, and {} acts on 1 only: it does nothing", text, variable.name));
    finding.severity = Severity::Error;
    finding.wanted = "1";
    out.push_back(std::move(finding));
    return;
  }
  const bool quoted = is_quoted(text);
  Finding finding = about("NCCL002", setting,
                          quoted ? fmt::format("the quotes of {} are part of the value: NCCL uses 0", escape_controls(text))
                                 : fmt::format("\"{}\" does not begin with a number: NCCL uses 0, not the default", escape_controls(text)));
  const IntegerText inside = read_integer(unquoted(text));
  finding.wanted = quoted && inside.digits && inside.number ? std::to_string(*inside.number) : "an integer";
  out.push_back(std::move(finding));
}

void lint_rest(const EffectiveSetting& setting, const Variable& variable, std::string_view text, const IntegerText& read, Findings& out) {
  const std::string used = std::to_string(read.number.value_or(0));
  if (const auto bytes = variable.type == Type::Size ? meant_bytes(read) : std::nullopt) {
    Finding finding = about("NCCL004", setting, fmt::format("NCCL reads no suffix: {} is {} bytes", text, used));
    finding.wanted = std::to_string(*bytes);
    finding.remedy = fmt::format("write {}={}", variable.name, *bytes);
    out.push_back(std::move(finding));
    return;
  }
  Finding finding = about("NCCL001", setting, fmt::format("\"{}\" is not an integer: NCCL uses {} and leaves \"{}\"", escape_controls(text), used, escape_controls(read.rest)));
  finding.wanted = "an integer";
  if (trim(read.rest).empty()) finding.severity = Severity::Info;
  if (read.rest.starts_with(',') && variable.name == "NCCL_IB_GID_INDEX") {
    finding.message = fmt::format("\"{}\" is not an integer: there is no list of indexes, NCCL uses {} for every HCA", escape_controls(text), used);
  }
  out.push_back(std::move(finding));
}

void lint_integer(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const std::string_view text = meant_text(setting);
  if (text.empty()) return;  // the default, as if unset
  const IntegerText read = read_integer(text);
  if (read.overflow) {
    out.push_back(about("NCCL005", setting, fmt::format("{} does not fit into 64 bits: NCCL uses {}", shorten(text, 40), used_integer(variable, text, linted.version))));
    return;
  }
  if (!read.digits) return lint_no_number(setting, variable, text, out);
  if (!read.rest.empty()) return lint_rest(setting, variable, text, read, out);
  if (read.base != 10 && read.number != 0 && !(read.base == 16 && hexadecimal_is_usual(variable.name))) {
    Finding finding = about("NCCL003", setting,
                            fmt::format("{} is {}: a leading {}", text, *read.number, read.base == 16 ? "0x means hexadecimal" : "0 means octal"));
    finding.wanted = std::to_string(*read.number);
    finding.remedy = fmt::format("write the decimal number that is meant; NCCL uses {} now", *read.number);
    out.push_back(std::move(finding));
  } else if (acts_on_one_only(variable.name) && read.number != 1) {
    out.push_back(about("NCCL017", setting, fmt::format("{} acts on 1 only: {} does nothing", variable.name, *read.number)));
  }
}

void lint_boolean(const EffectiveSetting& setting, Findings& out) {
  const std::string_view text = meant_text(setting);
  if (text.empty() || read_boolean(text)) return;
  Finding finding = about("NCCL013", setting, fmt::format("\"{}\" is none of 1, T, TRUE, 0, F, FALSE: NCCL uses the default", escape_controls(text)));
  finding.wanted = "1, T, TRUE, 0, F or FALSE";
  out.push_back(std::move(finding));
}

bool blanks_belong(const Variable& variable) {
  return variable.name == "NCCL_THREAD_THRESHOLDS" || variable.name == "NCCL_DEBUG_TIMESTAMP_FORMAT" || variable.name == "NCCL_SYM_KERNEL";
}

// Words and lists of this reader are trimmed (src/include/param/, 2.30.7).
bool trims(const Variable& variable, std::optional<Version> version) {
  return version && *version >= nccl::version(2, 30, 7) && variable.name.starts_with("NCCL_DEBUG");
}

void lint_blanks(const Linted& linted, const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  constexpr std::array kRead{Type::List, Type::Level, Type::Enum, Type::Flags, Type::Path, Type::Cidr, Type::CpuList, Type::String};
  const bool reader = of_libnccl(variable) || variable.layer == Layer::Gloo || variable.layer == Layer::TensorPipe;
  if (!reader || blanks_belong(variable) || trims(variable, linted.version)) return;
  if (std::find(kRead.begin(), kRead.end(), variable.type) == kRead.end()) return;
  const std::string_view text = meant_text(setting);
  const bool outside = trim(text).size() != text.size();
  const bool inner_blank_belongs = variable.type == Type::Path || variable.type == Type::String;  // "AWS Libfabric"
  const bool inside = text.find_first_of(inner_blank_belongs ? "\t\r" : " \t\r") != std::string_view::npos;
  if (!outside && !inside) return;
  std::string wanted(text);
  wanted.erase(std::remove_if(wanted.begin(), wanted.end(), [](char c) { return c == ' ' || c == '\t' || c == '\r'; }), wanted.end());
  if (inner_blank_belongs) wanted = trim(text);
  Finding finding = about("NCCL006", setting, fmt::format("the blanks in \"{}\" are part of the value: {}", escape_controls(text),
                                                          text.find(',') != std::string_view::npos ? "an entry with a blank never matches" : "NCCL cuts nothing away"));
  finding.remedy = fmt::format("write {}={}", variable.name, wanted);
  finding.wanted = std::move(wanted);
  out.push_back(std::move(finding));
}

void lint_quotes(const EffectiveSetting& setting, const Variable& variable, Findings& out) {
  const std::string_view text = trim(meant_text(setting));
  if (!is_quoted(text) || variable.name == "NCCL_DEBUG_TIMESTAMP_FORMAT" || variable.type == Type::Nothing) return;
  Finding finding = about("NCCL007", setting, fmt::format("the quotes of {} are part of the value: nothing has such a name", escape_controls(text)));
  finding.wanted = unquoted(text);
  finding.remedy = fmt::format("write {}={}", variable.name, finding.wanted);
  out.push_back(std::move(finding));
}

struct EmptyEffect {
  std::string_view name{};
  std::string_view effect{};
};

// src/misc/utils.cc, src/bootstrap.cc, src/init.cc, src/debug.cc, src/graph/search.cc
constexpr std::array kEmpty{
    EmptyEffect{"NCCL_HOSTID", "every node hashes the same empty text and takes the others for itself"},
    EmptyEffect{"NCCL_COMM_ID", "an empty address is invalid and initialisation fails"},
    EmptyEffect{"NCCL_NET", "no network has an empty name and initialisation fails"},
    EmptyEffect{"NCCL_DEBUG_SUBSYS", "no subsystem is left: nothing is printed, not even warnings"},
    EmptyEffect{"NCCL_GRAPH_FILE", "a file with an empty name cannot be opened and initialisation fails"},
};

void lint_empty(const Linted& linted, const EffectiveSetting& setting, Findings& out) {
  if (!setting.setting.value.empty()) return;
  const auto found = std::find_if(kEmpty.begin(), kEmpty.end(), [&](const EmptyEffect& one) { return one.name == setting.setting.name; });
  if (found != kEmpty.end()) {
    out.push_back(about("NCCL008", setting, fmt::format("{} is set and empty: {}", found->name, found->effect)));
  } else if (setting.setting.name == "NCCL_NET_PLUGIN" && (!linted.version || *linted.version >= version(2, 27))) {
    Finding finding = about("NCCL008", setting, "NCCL_NET_PLUGIN is set and empty: from 2.27 on this switches external plugins off, like \"none\"");
    finding.severity = Severity::Warning;
    out.push_back(std::move(finding));
  }
}

}  // namespace

void lint_values(const Linted& linted, Findings& out) {
  for (const EffectiveSetting& setting : linted.environment.settings) {
    const Variable* variable = variable_named(setting.setting.name);
    if (!variable) continue;
    lint_empty(linted, setting, out);
    if (reads_as_integer(*variable, linted.version)) {
      lint_integer(linted, setting, *variable, out);
    } else if (linted.version && reads_as_boolean(*variable, *linted.version)) {
      lint_boolean(setting, out);
    } else {
      lint_blanks(linted, setting, *variable, out);
      lint_quotes(setting, *variable, out);
    }
  }
}

}  // namespace verl::nccl
