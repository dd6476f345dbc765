// Which GID a RoCE port sends from under an environment: pinned, NCCL's own choice or the old default, and what is wrong with it.
#pragma once

#include <optional>
#include <string>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/nccl/situation.h"

namespace verl::nccl {

constexpr Version kChoosesGid = version(2, 21);  // the first release with -1 (choose) as the default of NCCL_IB_GID_INDEX

// NCCL_IB_GID_INDEX when it is set to 0 or more.
std::optional<std::int64_t> pinned_gid(const Situation& situation);

rdma::GidWish gid_wish(const Situation& situation);

struct ChosenGid {
  std::int64_t index{0};
  bool pinned{false};
  const rdma::GidEntry* entry{nullptr};  // nullptr: the table has none there
};

// Nothing where the port's table is not known.
std::optional<ChosenGid> chosen_gid(const Situation& situation, const fabric::Port& port);

bool types_known(const fabric::Port& port);  // the tool that printed the table says RoCE versions

// Why RoCE v2 cannot go from there: "is empty", "is RoCE v1"; empty: it can, or its version is not known (types_known).
std::string why_unusable(const fabric::Port& port, const ChosenGid& chosen);

}  // namespace verl::nccl
