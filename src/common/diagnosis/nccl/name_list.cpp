#include "diagnosis/nccl/name_list.h"

#include <algorithm>

#include "base/text.h"
#include "diagnosis/rdma/address.h"

namespace verl::nccl {
namespace {

bool dotted_start(std::string_view text) {
  while (text.ends_with('.') || text.ends_with('*')) text.remove_suffix(1);
  const auto parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 4) return false;
  return std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
    const auto number = parse_int<std::int32_t>(part);
    return number && *number >= 0 && *number <= 255;
  });
}

}  // namespace

bool looks_like_address(std::string_view text) {
  text = trim(text);
  if (text.find("://") != std::string_view::npos || dotted_start(text)) return true;
  if (text.starts_with('[') && text.find(']') != std::string_view::npos) return true;
  if (rdma::parse_address(text)) return true;
  const auto parts = split(text, ':');  // ADDRESS:PORT
  return parts.size() == 2 && dotted_start(parts[0]) && std::count(parts[0].begin(), parts[0].end(), '.') == 3;
}

std::string interface_with(const fabric::Facts& fabric, std::string_view address) {
  const auto wanted = rdma::parse_address(trim(address));
  for (const fabric::Interface& interface : fabric.interfaces) {
    for (const std::string& text : interface.addresses) {
      const auto own = rdma::parse_address(text);
      if (!own) continue;
      if (wanted ? rdma::in_network(*own, *wanted) : (address.ends_with('.') && text.starts_with(address))) return interface.name;
    }
  }
  return {};
}

bool same_network(std::string_view a, std::string_view b) {
  const auto first = rdma::parse_address(a);
  const auto second = rdma::parse_address(b);
  if (!first || !second) return false;
  return (first->prefix && rdma::in_network(*second, *first)) || (second->prefix && rdma::in_network(*first, *second));
}

}  // namespace verl::nccl
