#include "diagnosis/log/nccl_message.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kDevices = 64;
constexpr std::size_t kCpus = 8192;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view without_index(std::string_view word) {
  while (word.starts_with('[') || word.starts_with('=') || word.starts_with('{')) {
    if (!word.starts_with('[')) {
      word.remove_prefix(1);
      continue;
    }
    const std::size_t close = word.find(']');
    if (close == std::string_view::npos || !std::all_of(word.begin() + 1, word.begin() + static_cast<std::ptrdiff_t>(close), is_digit)) break;
    word.remove_prefix(close + 1);
  }
  while (word.ends_with(',') || word.ends_with('}')) word.remove_suffix(1);
  return word;
}

void add_range(std::string& text, std::size_t first, std::size_t last) {
  if (!text.empty()) text += ',';
  text += std::to_string(first);
  if (last != first) text += "-" + std::to_string(last);
}

// "P2P/indirect/5[5]" → "P2P/indirect"
std::string_view kind_of(std::string_view via) {
  if (via.starts_with("direct shared memory")) return "SHM";
  if (via.starts_with("P2P/direct pointer")) return via.substr(0, 18);
  std::size_t end = 0;
  while (end < via.size() && end < 40) {
    const std::size_t slash = std::min(via.find('/', end), via.size());
    const std::string_view part = via.substr(end, slash - end);
    if (part.empty() || is_digit(part.front()) || part.find_first_of("[ ") != std::string_view::npos) break;
    end = slash + 1;
  }
  return end == 0 ? via.substr(0, via.find_first_of(" [")) : via.substr(0, std::min(end - 1, via.size()));
}

}  // namespace

NetDevices read_net_devices(std::string_view text) {
  NetDevices all;
  const std::size_t semicolon = text.find(';');
  for (const std::string_view piece : split_whitespace(text.substr(0, semicolon))) {
    if (piece == "[RO]") {
      all.relaxed_ordering = true;
      continue;
    }
    const std::string_view word = without_index(piece);
    const std::size_t colon = word.find(':');
    const std::size_t slash = word.find('/');
    if (colon == std::string_view::npos || colon == 0 || slash == std::string_view::npos || slash < colon || all.devices.size() >= kDevices) continue;
    const auto port = parse_int(word.substr(colon + 1, slash - colon - 1));
    if (!port) continue;
    const std::string_view link = word.substr(slash + 1);
    all.devices.push_back({.name = std::string(word.substr(0, colon)), .port = *port, .link = std::string(link.substr(0, link.find_first_of("/:,}")))});
  }
  if (const auto oob = after(text, "OOB ")) {
    const auto interfaces = read_interfaces(*oob);
    if (!interfaces.empty()) all.oob = interfaces.front();
  }
  return all;
}

std::optional<ChannelPath> read_channel(std::string_view message) {
  const std::size_t via = message.find(" via ");
  if (via == std::string_view::npos) return std::nullopt;
  ChannelPath path;
  path.via = trim(message.substr(via + 5));
  if (path.via.empty()) return std::nullopt;
  const std::size_t blank = message.find(' ');
  const auto number = number_at(message.substr(blank));
  const std::size_t colon = message.find(':');
  const std::size_t arrow = message.find("->");
  if (!number || *number < 0 || *number > 4096 || colon == std::string_view::npos || arrow == std::string_view::npos || arrow < colon) return std::nullopt;
  const auto from = number_at(message.substr(colon + 1));
  const auto to = number_at(message.substr(arrow + 2));
  const auto rank = [](const std::optional<std::int64_t>& one) { return one && *one >= 0 && *one < 10'000'000; };
  if (!rank(from) || !rank(to)) return std::nullopt;
  path.number = static_cast<std::int32_t>(*number);
  path.from = static_cast<std::int32_t>(*from);
  path.to = static_cast<std::int32_t>(*to);
  const std::string_view middle = message.substr(arrow, via - arrow + 1);
  path.direction = middle.find("[send]") != std::string_view::npos ? "send"sv : middle.find("[receive]") != std::string_view::npos ? "receive"sv : ""sv;
  if (!path.via.starts_with("NET/")) {
    path.kind = kind_of(path.via);
    return path;
  }
  path.net = true;
  const std::size_t slash = path.via.find('/', 4);
  path.kind = path.via.substr(0, slash);
  if (slash == std::string_view::npos) return path;
  if (const auto device = number_at(path.via.substr(slash + 1)); device && *device >= 0 && *device < 4096) path.device = static_cast<std::int32_t>(*device);
  path.gdr = path.via.find("/GDRDMA", slash) != std::string_view::npos;
  return path;
}

std::string read_affinity(std::string_view mask) {
  mask = word_at(mask).empty() ? mask : trim(mask);
  mask = mask.substr(0, mask.find(' '));
  if (mask.find('-') != std::string_view::npos) {
    const bool list = std::all_of(mask.begin(), mask.end(), [](char c) { return is_digit(c) || c == '-' || c == ','; });
    return list ? std::string(mask) : std::string();
  }
  const std::vector<std::string_view> words = split(mask, ',');
  if (mask.empty() || words.size() * 32 > kCpus) return {};
  std::vector<bool> cpus(words.size() * 32, false);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::uint32_t bits = 0;
    const std::string_view word = words[i];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bits, 16);
    if (error != std::errc{} || end != word.data() + word.size() || word.size() > 8) return {};
    for (std::size_t bit = 0; bit < 32; ++bit) cpus[(words.size() - 1 - i) * 32 + bit] = ((bits >> bit) & 1U) != 0;
  }
  std::string text;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    if (!cpus[cpu]) continue;
    std::size_t last = cpu;
    while (last + 1 < cpus.size() && cpus[last + 1]) ++last;
    add_range(text, cpu, last);
    cpu = last;
  }
  return text;
}

std::optional<Version> read_version(std::string_view text) {
  text = trim(text);
  while (text.starts_with(':') || text.starts_with(' ')) text.remove_prefix(1);
  const auto digits = [](std::string_view from) {
    const auto end = std::find_if_not(from.begin(), from.end(), [](char c) { return is_digit(c) || c == '.'; });
    std::string_view part = from.substr(0, static_cast<std::size_t>(end - from.begin()));
    while (part.ends_with('.')) part.remove_suffix(1);
    return part;
  };
  const std::string_view nccl = digits(text);
  if (nccl.empty() || !is_digit(nccl.front()) || std::count(nccl.begin(), nccl.end(), '.') < 1 || nccl.size() > 20) return std::nullopt;
  Version version{.nccl = std::string(nccl), .cuda = {}};
  for (const std::string_view word : {"+cuda"sv, "+CUDA"sv, "CUDA "sv, "+hip"sv}) {
    if (const auto cuda = after(text, word)) version.cuda = std::string(digits(*cuda));
    if (!version.cuda.empty()) break;
  }
  return version;
}

std::optional<CommunicatorLine> read_communicator(std::string_view message) {
  const auto rest = after(message, "comm 0x");
  if (!rest) return std::nullopt;
  CommunicatorLine line;
  line.address = word_at(*rest);
  const auto rank = number_after(*rest, " rank ");
  auto ranks = number_after(*rest, " nranks ");
  if (!ranks) ranks = number_after(*rest, " nRanks ");
  if (!rank || !ranks || *rank < 0 || *ranks < 1 || *rank >= *ranks || *ranks > 10'000'000) return std::nullopt;
  line.rank = static_cast<std::int32_t>(*rank);
  line.ranks = *ranks;
  line.nodes = number_after(*rest, " nNodes ").value_or(0);
  if (const auto id = after(*rest, " commId 0x")) line.id = word_at(*id);
  for (const std::string_view stage : {"Init START"sv, "Init COMPLETE"sv, "Abort COMPLETE"sv, "Destroy COMPLETE"sv, "Abort START"sv}) {
    if (rest->find(stage) != std::string_view::npos) line.stage = stage;
  }
  return line;
}

bool is_cut_short(std::string_view message) {
  if (message.empty()) return true;
  if (message.starts_with("Channel ")) {
    if (message.find("->") == std::string_view::npos) return false;
    return message.find(" via ") == std::string_view::npos || message.ends_with('/');
  }
  constexpr std::array kOpen{"error"sv, "(size"sv, "returned"sv, ":"sv, "via"sv, "to"sv, "->"sv, "peer"sv, "with"sv, "size"sv, "OOB"sv, "network"sv, "len"sv, "status"sv, "NET/IB"sv};
  const std::string_view last = message.substr(message.rfind(' ') + 1);  // npos + 1 is 0: the whole message
  if (std::find(kOpen.begin(), kOpen.end(), last) != kOpen.end()) return true;
  if (message.find("ot completion ") != std::string_view::npos) return !number_after(message, "vendor err ") && !number_after(message, "vendor_err=");
  if (message.find("comm 0x") != std::string_view::npos && message.find(" commId ") != std::string_view::npos) return message.find(" - ") == std::string_view::npos;
  return false;
}

}  // namespace verl::log
