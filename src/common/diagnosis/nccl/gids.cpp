#include "diagnosis/nccl/gids.h"

#include <algorithm>

namespace verl::nccl {

std::optional<std::int64_t> pinned_gid(const Situation& situation) {
  const auto index = number_of(situation, "NCCL_IB_GID_INDEX");
  return index && *index >= 0 ? index : std::nullopt;
}

rdma::GidWish gid_wish(const Situation& situation) {
  rdma::GidWish wish;
  if (text_of(situation, "NCCL_IB_ADDR_FAMILY") == "AF_INET6") wish.family = rdma::AddressFamily::Inet6;
  if (const auto version = number_of(situation, "NCCL_IB_ROCE_VERSION_NUM"); version && *version >= 0 && *version < 10) {
    wish.roce_version = static_cast<std::int32_t>(*version);
  }
  // NCCL ignores a range without a length and one of the other family.
  if (const auto range = text_of(situation, "NCCL_IB_ADDR_RANGE")) {
    const auto address = rdma::parse_address(*range);
    if (address && address->prefix && address->family == wish.family) wish.range = address;
  }
  return wish;
}

std::optional<ChosenGid> chosen_gid(const Situation& situation, const fabric::Port& port) {
  if (port.gids.empty()) return std::nullopt;
  ChosenGid chosen;
  if (const auto pinned = pinned_gid(situation)) {
    chosen.pinned = true;
    chosen.index = *pinned;
  } else if (!situation.version || *situation.version >= kChoosesGid) {
    chosen.index = rdma::nccl_gid_index(port.gids, gid_wish(situation));
  }
  if (chosen.index <= INT32_MAX) chosen.entry = rdma::entry_at(port.gids, static_cast<std::int32_t>(chosen.index));
  return chosen;
}

bool types_known(const fabric::Port& port) {
  return std::any_of(port.gids.begin(), port.gids.end(), [](const rdma::GidEntry& entry) { return !entry.type.empty(); });
}

std::string why_unusable(const fabric::Port& port, const ChosenGid& chosen) {
  if (!chosen.entry || rdma::is_zero(chosen.entry->gid)) return "is empty";
  const std::string text = rdma::to_string(chosen.entry->gid);
  if (rdma::is_link_local(chosen.entry->gid)) return "is the link-local " + text;
  if (chosen.entry->type.empty()) return types_known(port) ? text + " belongs to another network namespace" : "";
  if (!rdma::usable(*chosen.entry)) return text + " is " + chosen.entry->type;
  return {};
}

}  // namespace verl::nccl
