#include "diagnosis/nccl/interfaces.h"

#include <algorithm>
#include <array>

#include "diagnosis/fabric/names.h"

namespace verl::nccl {
namespace {

constexpr Version kWantsRunning = version(2, 28, 3);  // the first release that leaves out interfaces without a carrier

void add_family(const fabric::Facts& facts, rdma::AddressFamily family, std::vector<Candidate>& out) {
  for (const fabric::Interface& interface : facts.interfaces) {
    if (std::any_of(out.begin(), out.end(), [&](const Candidate& one) { return one.interface == &interface; })) continue;
    for (const std::string& text : interface.addresses) {
      const auto address = rdma::parse_address(text);
      if (!address || address->family != family) continue;
      if (family == rdma::AddressFamily::Inet6 && rdma::is_loopback(*address)) continue;
      out.push_back({.interface = &interface, .text = text, .address = *address});
      break;
    }
  }
}

std::vector<Candidate> all_candidates(const Situation& situation) {
  const std::string family = text_of(situation, "NCCL_SOCKET_FAMILY").value_or("");
  std::vector<Candidate> all;
  if (family != "AF_INET6") add_family(situation.node->fabric, rdma::AddressFamily::Inet4, all);
  if (family != "AF_INET") add_family(situation.node->fabric, rdma::AddressFamily::Inet6, all);
  if (situation.version && *situation.version >= kWantsRunning) {
    all.erase(std::remove_if(all.begin(), all.end(), [](const Candidate& one) { return is_dead(*one.interface); }), all.end());
  }
  return all;
}

std::vector<Candidate> selected(const std::vector<Candidate>& all, const Selection& list) {
  std::vector<Candidate> taken;
  for (const Candidate& one : all) {
    if (taken.size() < kMostInterfaces && selects(list, one.interface->name)) taken.push_back(one);
  }
  return taken;
}

// "192.0.2.7:4000" and "[2001:db8::7]:4000": the address alone.
std::optional<rdma::Address> root_address(const Situation& situation) {
  const std::string text = text_of(situation, "NCCL_COMM_ID").value_or("");
  if (text.starts_with('[')) return rdma::parse_address(std::string_view(text).substr(1, text.find(']') - 1));
  return rdma::parse_address(std::string_view(text).substr(0, text.rfind(':')));
}

}  // namespace

bool is_dead(const fabric::Interface& interface) { return interface.running == false || interface.up == false; }

bool is_inner_name(std::string_view name) {
  const fabric::InterfaceKind kind = fabric::kind_of_name(name);
  return kind == fabric::InterfaceKind::Loopback || kind == fabric::InterfaceKind::Virtual;
}

bool is_inner(const fabric::Interface& interface) {
  return interface.kind == fabric::InterfaceKind::Loopback || interface.kind == fabric::InterfaceKind::Virtual || is_inner_name(interface.name);
}

InterfaceChoice interfaces_of(const Situation& situation) {
  const std::vector<Candidate> all = all_candidates(situation);
  InterfaceChoice choice;
  choice.known = std::any_of(situation.node->fabric.interfaces.begin(), situation.node->fabric.interfaces.end(),
                             [](const fabric::Interface& one) { return !one.addresses.empty(); });
  const std::string own = text_of(situation, "NCCL_SOCKET_IFNAME").value_or("");
  choice.listed = own.size() > 1;
  if (choice.listed) {
    choice.list = parse_selection(own, kMostInterfaces);
    choice.taken = selected(all, choice.list);
  } else {
    constexpr std::array<std::string_view, 5> kSteps{"ib", "^docker,lo,virbr", "docker", "lo", "virbr"};
    const auto root = root_address(situation);
    for (const std::string_view step : kSteps) {
      choice.list = parse_selection(step, kMostInterfaces);
      choice.taken = selected(all, choice.list);
      if (!choice.taken.empty()) break;
      if (step != "ib" || !root) continue;
      std::copy_if(all.begin(), all.end(), std::back_inserter(choice.taken),
                   [&](const Candidate& one) { return rdma::in_network(*root, one.address); });
      if (!choice.taken.empty()) break;
    }
  }
  for (const Candidate& one : all) {
    const bool taken = std::any_of(choice.taken.begin(), choice.taken.end(), [&](const Candidate& other) { return other.interface == one.interface; });
    if (!taken) choice.others.push_back(one);
  }
  return choice;
}

std::vector<std::string> names_of(const std::vector<Candidate>& candidates) {
  std::vector<std::string> names;
  for (const Candidate& one : candidates) names.push_back(one.interface->name);
  return names;
}

std::vector<std::string> sane_names(const Situation& situation, const InterfaceChoice& choice) {
  std::vector<std::string> names;
  for (const std::vector<Candidate>* group : {&choice.taken, &choice.others}) {
    for (const Candidate& one : *group) {
      if (is_dead(*one.interface) || is_inner(*one.interface) || rdma::is_link_local(one.address)) continue;
      if (one.interface->name == situation.policy->control_interface) return {one.interface->name};
      names.push_back(one.interface->name);
    }
  }
  return names;
}

}  // namespace verl::nccl
