#include "diagnosis/log/ray_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "diagnosis/log/scan.h"
#include "diagnosis/log/words.h"

namespace verl::log {
namespace {

using diagnosis::Reading;
using diagnosis::Severity;
using namespace std::string_view_literals;

enum Topic : std::size_t { kVersions, kLocal, kConnecting, kIpVariable, kAddrVariable, kAddressVariable, kAddressOption, kStartTimeout, kGcsTimeout, kRayNodes, kNodesSeen, kRequest, kWaiting,
                           kPending, kStep, kProgress, kScratch, kTracker, kResuming, kVllmNccl, kRccl };

constexpr std::array kTopics{"Version mismatch: The cluster was started with"sv, "ocal node IP: "sv, "luster at address: "sv, "_IP="sv, "_ADDR="sv, "_ADDRESS="sv, "--address="sv,
                             "timed out during startup"sv, "Failed to get node info"sv, "ray nodes: "sv, "nodes seen: "sv, "fulfill resource request "sv,
                             "Waiting for creating a placement group"sv, "cannot be scheduled right now"sv, "step:"sv, "Training Progress:"sv, "Training from scratch"sv,
                             "tracker file does not exist"sv, "etting global step to "sv, "using nccl=="sv, "RCCL version"sv};

constexpr std::size_t kNodes = 4096;
constexpr std::size_t kMetrics = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_digit(c) || c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

const Words& topics() {
  static const Words kWords(kTopics);
  return kWords;
}

// Every IPv4 address in the text.
template <class F>
void each_address(std::string_view text, F&& found) {
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      ++i;
      continue;
    }
    const std::size_t end = std::min(text.find_first_not_of("0123456789.", i), text.size());
    std::string_view word = text.substr(i, end - i);
    while (word.ends_with('.')) word.remove_suffix(1);
    if (is_ipv4(word)) found(word);
    i = end;
  }
}

// Two addresses of one /16 may well be one network; of different ones hardly.
bool far_apart(std::string_view a, std::string_view b) {
  const auto half = [](std::string_view one) { return one.substr(0, one.find('.', one.find('.') + 1)); };
  return is_ipv4(a) && is_ipv4(b) && half(a) != half(b);
}

std::string_view without_colon(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" :"), text.size()));
  return text;
}

std::string without_quotes(std::string_view text) {
  std::string plain(text);
  plain.erase(std::remove(plain.begin(), plain.end(), '\''), plain.end());
  return plain;
}

}  // namespace

Line RayRun::Kept::line() const {
  Line line;
  line.number = number;
  line.text = text;
  line.message = text;
  line.host = host;
  line.ip = ip;
  return line;
}

RayRun::Kept RayRun::keep(const Line& line) {
  return {.number = line.number, .text = shorten(line.text, diagnosis::kEvidenceBytes), .host = std::string(line.host), .ip = std::string(line.ip)};
}

void RayRun::know_node(std::string_view address) {
  if (address == last_node_) return;
  last_node_ = std::string(address);
  if (nodes_.size() < kNodes) nodes_.emplace(address);
}

// "Version mismatch: The cluster was started with:", then "Ray: 2.46.0", "Python: 3.11.11", "This process on node X was started with:", and both again.
bool RayRun::note_versions(const Line& line) {
  if (block_lines_ == 0) return false;
  const std::string_view message = trim(line.message);
  --block_lines_;
  Versions& versions = versions_node_.empty() ? cluster_ : own_;
  if (message.starts_with("Ray: ")) {
    versions.ray = std::string(word_at(message.substr(5)));
  } else if (message.starts_with("Python: ")) {
    versions.python = std::string(word_at(message.substr(8)));
  } else if (message.starts_with("This process on ")) {
    std::string_view node = message.substr(16);
    if (node.starts_with("node ")) node.remove_prefix(5);
    versions_node_ = std::string(node.substr(0, node.find(" was started")));
    if (versions_node_.empty()) versions_node_ = "unknown";
  } else {
    return false;
  }
  if (!own_.ray.empty() && !own_.python.empty()) block_lines_ = 0;
  return true;
}

void RayRun::note_variables(const Line& line) {
  const std::string_view text = line.message;
  for (std::size_t equal = text.find('='); equal != std::string_view::npos; equal = text.find('=', equal + 1)) {
    std::size_t begin = equal;
    while (begin > 0 && (is_name(text[begin - 1]) || text[begin - 1] == '-')) --begin;
    const std::string_view name = text.substr(begin, equal - begin);
    const bool address = name.ends_with("_IP") || name.ends_with("_ADDR") || name.ends_with("_ADDRESS") || name == "--address" || name == "--node-ip-address";
    if (!address || name.size() > 60) continue;
    std::string_view value = text.substr(equal + 1);
    value = value.substr(0, value.find_first_of(" \t,;"));
    while (!value.empty() && (value.front() == '"' || value.front() == '\'')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == '"' || value.back() == '\'')) value.remove_suffix(1);
    if (value.empty() && name != "--address") {
      if (!empty_at_) {
        empty_variable_ = std::string(name);
        empty_at_ = keep(line);
      }
      continue;
    }
    const bool head = name.find("HEAD") != std::string_view::npos || name.find("LEADER") != std::string_view::npos || name.find("MASTER") != std::string_view::npos ||
                      name == "RAY_ADDRESS" || name == "--address";
    const auto read = address_at(value);
    if (head && read && is_ipv4(read->host) && head_ip_.empty()) head_ip_ = read->host;
  }
}

void RayRun::note_nodes(const Line& line) {
  const auto rest = after(line.message, "nodes seen: ");
  if (!rest) return;
  alive_ = number_at(*rest);
  target_ = number_after(*rest, "target ");
  if (!target_) target_ = number_after(*rest, "/");
}

// "… resource request {'GPU': 1.0, 'node:192.0.2.92': 0.001}."
void RayRun::note_request(const Line& line) {
  const std::string_view request = between(line.message, "{", "}");
  if (request.empty() || request.size() > 1000) return;
  if (!request_at_) request_at_ = keep(line);
  request_ = "{" + without_quotes(request) + "}";
  if (const auto node = after(request, "node:")) {
    const std::string_view address = node->substr(0, node->find_first_of("'\": "));
    if (is_ipv4(address)) request_ip_ = std::string(address);
  }
}

// "step:12 - actor/pg_loss:0.1 - critic/vf_loss:np.float64(0.0070) - …", possibly after a progress bar.
bool RayRun::note_step(const Line& line) {
  const std::size_t at = line.message.find("step:");
  if (at > 0 && is_name(line.message[at - 1])) return false;
  const std::string_view text = line.message.substr(at);
  const auto step = number_at(text.substr(5));
  if (!step || text.find(" - ") == std::string_view::npos) return false;
  std::map<std::string, double> metrics;
  std::string_view rest = text;
  while (const auto next = after(rest, " - ")) {
    rest = *next;
    const std::string_view pair = rest.substr(0, rest.find(" - "));
    const std::size_t colon = pair.rfind(':');
    if (colon == std::string_view::npos || colon == 0 || colon > 120 || metrics.size() >= kMetrics) continue;
    std::string_view value = trim(pair.substr(colon + 1));
    if (value.starts_with("np.")) value = between(value, "(", ")");
    const std::string number(value.substr(0, 40));
    const std::string_view digits = number.starts_with('-') ? std::string_view(number).substr(1) : std::string_view(number);
    if (digits.empty() || !(is_digit(digits.front()) || digits == "nan" || digits == "inf")) continue;  // True, False, a list
    char* end = nullptr;
    const double parsed = std::strtod(number.c_str(), &end);
    if (*end != '\0') continue;
    metrics.emplace(std::string(pair.substr(0, colon)), parsed);
  }
  if (metrics.empty()) return false;
  if (!metrics.contains("training/global_step")) return true;  // validation before training, or after a resume
  ++steps_;
  if (!first_step_) first_step_ = step;
  last_step_ = step;
  for (const std::string_view name : {"actor/grad_norm"sv, "actor/pg_loss"sv, "critic/vf_loss"sv, "critic/grad_norm"sv, "actor/kl_loss"sv}) {
    const auto found = metrics.find(std::string(name));
    if (found == metrics.end() || std::isfinite(found->second) || not_finite_at_) continue;
    not_finite_ = found->first;
    not_finite_at_ = keep(line);
  }
  metrics_ = std::move(metrics);
  return true;
}

bool RayRun::note(const Line& line) {
  if (!line.ip.empty()) know_node(line.ip);
  if (note_versions(line)) return true;
  constexpr std::uint32_t kVariables = 1U << kIpVariable | 1U << kAddrVariable | 1U << kAddressVariable | 1U << kAddressOption;
  std::uint32_t seen = 0;  // each topic once a line, however often it stands there
  topics().each(line.message, [&](std::size_t topic) { seen |= 1U << topic; });
  if ((seen & kVariables) != 0) note_variables(line);
  for (std::size_t topic = 0; topic < kTopics.size(); ++topic) {
    if ((seen & (1U << topic)) == 0) continue;
    switch (topic) {
      case kVersions:
        if (!versions_at_) {
          versions_at_ = keep(line);
          block_lines_ = 12;
        }
        break;
      case kLocal:
        if (!local_at_) {
          local_at_ = keep(line);
          local_ip_ = std::string(word_at(after(line.message, "ocal node IP: ").value_or("")));
        }
        break;
      case kConnecting:
        if (const auto head = address_at(after(line.message, "luster at address: ").value_or("")); head && head_ip_.empty() && is_ipv4(head->host)) head_ip_ = head->host;
        break;
      case kStartTimeout:
      case kGcsTimeout:
        if (!timeout_at_) timeout_at_ = keep(line);
        break;
      case kRayNodes: each_address(line.message, [&](std::string_view one) { know_node(one); }); break;
      case kNodesSeen: note_nodes(line); break;
      case kRequest:
        request_error_ = true;
        note_request(line);
        break;
      case kPending: note_request(line); break;
      case kWaiting:
        waiting_ = number_after(line.message, "specs for ");
        break;
      case kStep:
        if (!note_step(line)) seen &= ~(1U << kStep);
        break;
      case kProgress:
        if (const auto bar = after(line.message, "| ")) {
          progress_ = number_at(*bar);
          progress_of_ = number_after(*bar, "/");
        }
        break;
      case kScratch: resumed_ = "from scratch"; break;
      case kTracker: said_["verl.tracker"] = "missing"; break;
      case kResuming:
        if (const auto step = number_after(line.message, "etting global step to ")) resumed_ = "at step " + std::to_string(*step);
        break;
      case kVllmNccl: said_["vllm.nccl"] = shorten(word_at(after(line.message, "using nccl==").value_or("")), 40); break;
      case kRccl: said_["rccl"] = shorten(word_at(trim(without_colon(after(line.message, "RCCL version").value_or("")))), 80); break;
      default: break;
    }
  }
  return (seen & ~kVariables) != 0;  // a variable alone may stand in any file
}

void RayRun::finish_versions(Events& events, Reading& reading) {
  if (!versions_at_) return;
  const auto value = [&](const std::string& name, const std::string& text) {
    if (!text.empty()) reading.values.push_back({.name = name, .value = text, .unit = {}});
  };
  value("ray.cluster.ray", cluster_.ray);
  value("ray.cluster.python", cluster_.python);
  value("ray.process.node", versions_node_);
  value("ray.process.ray", own_.ray);
  value("ray.process.python", own_.python);
  Sighting sighting;
  sighting.rule = "ray-version-mismatch";
  sighting.blame = Blame::Mismatch;
  sighting.subject = versions_node_;
  sighting.seen = fmt::format("Ray {}, Python {}", own_.ray, own_.python);
  sighting.wanted = fmt::format("Ray {}, Python {}", cluster_.ray, cluster_.python);
  const auto minor = [](const std::string& one) { return one.substr(0, one.rfind('.')); };
  if (own_.ray.empty() || cluster_.ray.empty()) {
    sighting.message = "Ray refuses a process of another version; the versions are cut off";
  } else if (own_.ray == cluster_.ray && own_.python != cluster_.python && minor(own_.python) == minor(cluster_.python)) {
    sighting.message = fmt::format("node {} differs in the Python patch level only: {} there, {} in the cluster (Ray {} on both); Ray refuses it all the same", versions_node_, own_.python,
                                   cluster_.python, own_.ray);
  } else if (own_.ray == cluster_.ray) {
    sighting.message = fmt::format("node {} runs Python {}, the cluster {} (Ray {} on both)", versions_node_, own_.python, cluster_.python, own_.ray);
  } else {
    sighting.message = fmt::format("node {} runs Ray {}, the cluster Ray {}{}", versions_node_, own_.ray, cluster_.ray,
                                   own_.python == cluster_.python ? fmt::format(" (Python {} on both)", own_.python) : fmt::format("; Python {} against {}", own_.python, cluster_.python));
  }
  events.add(versions_at_->line(), "", std::move(sighting));
}

void RayRun::finish_address(Events& events, Reading& reading) {
  const auto value = [&](const std::string& name, diagnosis::Scalar scalar) { reading.values.push_back({.name = name, .value = std::move(scalar), .unit = {}}); };
  if (!local_ip_.empty()) value("ray.local_ip", local_ip_);
  if (!head_ip_.empty()) value("ray.head_ip", head_ip_);
  if (!empty_variable_.empty()) value("ray.empty_variable", empty_variable_);
  if (alive_) value("ray.nodes.alive", *alive_);
  if (target_) value("ray.nodes.target", *target_);
  if (!timeout_at_ && !empty_at_) return;
  Sighting sighting;
  sighting.blame = Blame::Setting;
  sighting.subject = local_ip_;
  sighting.seen = local_ip_;
  const std::string seen = alive_ && target_ ? fmt::format("; {} of {} nodes are alive", *alive_, *target_) : "";
  if (timeout_at_ && !local_ip_.empty() && (empty_at_ || far_apart(local_ip_, head_ip_))) {
    sighting.rule = "ray-worker-address";
    sighting.message = fmt::format("the worker registered with the wrong address {}{}{}{}", local_ip_, head_ip_.empty() ? "" : " while the head is on " + head_ip_,
                                   empty_at_ ? fmt::format(": {} was empty, so Ray chose an interface itself", empty_variable_) : "", seen);
    events.add((empty_at_ ? *empty_at_ : local_at_ ? *local_at_ : *timeout_at_).line(), "", std::move(sighting));
    return;
  }
  if (timeout_at_) {
    sighting.rule = "ray-start-timeout";
    sighting.message = fmt::format("a Ray node did not come up in time{}{}", local_ip_.empty() ? "" : " (" + local_ip_ + ")", seen);
    events.add(timeout_at_->line(), "", std::move(sighting));
    return;
  }
  sighting.rule = "ray-worker-address";
  sighting.severity = Severity::Warning;
  sighting.subject = empty_variable_;
  sighting.message = fmt::format("{} is empty: whoever uses it chooses an address itself", empty_variable_);
  events.add(empty_at_->line(), "", std::move(sighting));
}

void RayRun::finish_request(Events& events, Reading& reading) {
  if (!request_at_ && !waiting_) return;
  if (!request_.empty()) reading.values.push_back({.name = "ray.request", .value = request_, .unit = {}});
  if (waiting_) reading.values.push_back({.name = "ray.waiting", .value = *waiting_, .unit = "s"});
  if (!request_at_) return;
  std::vector<std::string> nodes(nodes_.begin(), nodes_.end());
  Sighting sighting;
  sighting.blame = Blame::Setting;
  sighting.seen = request_;
  const std::string waited = waiting_ ? fmt::format(", waiting for {} s", *waiting_) : "";
  if (!request_ip_.empty() && !nodes_.empty() && !nodes_.contains(request_ip_)) {
    sighting.rule = "ray-address-mismatch";
    sighting.subject = request_ip_;
    sighting.wanted = join_some(nodes, 8);
    sighting.message = fmt::format("stuck placement, node address mismatch: {} is not an address of the Ray cluster, which has {}; the request {} is never fulfilled{}", request_ip_,
                                   join_some(nodes, 8), request_, waited);
  } else {
    sighting.rule = "ray-request";
    if (!request_error_) sighting.severity = Severity::Warning;
    sighting.message = fmt::format("no Ray node can fulfil the request {}{}", request_, waited);
  }
  events.add(request_at_->line(), "", std::move(sighting));
}

void RayRun::finish_steps(Events& events, Reading& reading) {
  const auto value = [&](const std::string& name, diagnosis::Scalar scalar) { reading.values.push_back({.name = name, .value = std::move(scalar), .unit = {}}); };
  if (steps_ > 0) {
    value("verl.steps", steps_);
    value("verl.first_step", *first_step_);
    value("verl.last_step", *last_step_);
  }
  for (const auto& [name, number] : metrics_) value("verl.metric[" + name + "]", number);
  if (progress_) value("verl.progress", *progress_);
  if (progress_of_) value("verl.total_steps", *progress_of_);
  if (!resumed_.empty()) value("verl.resumed", resumed_);
  for (const auto& [name, text] : said_) value(name, text);
  if (!not_finite_at_) return;
  Sighting sighting;
  sighting.rule = "verl-metric-not-finite";
  sighting.subject = not_finite_;
  sighting.message = fmt::format("{} is not finite: training diverged or the data are broken", not_finite_);
  events.add(not_finite_at_->line(), "", std::move(sighting));
}

void RayRun::finish(Events& events, Reading& reading) {
  std::size_t index = 0;
  for (const std::string& one : nodes_) {
    if (index >= 64) break;
    reading.values.push_back({.name = "ray.node[" + std::to_string(index++) + "]", .value = one, .unit = {}});
  }
  finish_versions(events, reading);
  finish_address(events, reading);
  finish_request(events, reading);
  finish_steps(events, reading);
}

}  // namespace verl::log
