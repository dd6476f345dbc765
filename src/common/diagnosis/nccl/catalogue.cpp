#include "diagnosis/nccl/catalogue.h"

#include <algorithm>
#include <array>
#include <vector>

namespace verl::nccl {
namespace {

bool by_name(const Variable* a, const Variable* b) { return a->name < b->name; }

// Defaults that changed: the text holds from that release on (NCCL release tags).
struct Change {
  std::string_view name{};
  Version from{0};
  std::string_view standard{};
};

constexpr std::array kChanges{
    Change{"NCCL_CUMEM_ENABLE", version(2, 18), "0"},     Change{"NCCL_CUMEM_ENABLE", version(2, 19), ""},
    Change{"NCCL_CUMEM_HOST_ENABLE", version(2, 23), "0"}, Change{"NCCL_CUMEM_HOST_ENABLE", version(2, 24), ""},
    Change{"NCCL_GRAPH_REGISTER", 0, "0"},                Change{"NCCL_GRAPH_REGISTER", version(2, 19), "1"},
    Change{"NCCL_IB_GID_INDEX", 0, "0"},                  Change{"NCCL_IB_GID_INDEX", version(2, 21), ""},
    Change{"NCCL_IB_SL", 0, "0"},                         Change{"NCCL_IB_SL", version(2, 26), ""},
    Change{"NCCL_IB_SPLIT_DATA_ON_QPS", version(2, 18), "1"}, Change{"NCCL_IB_SPLIT_DATA_ON_QPS", version(2, 20), "0"},
    Change{"NCCL_IB_TC", 0, "0"},                         Change{"NCCL_IB_TC", version(2, 26), ""},
    Change{"NCCL_IB_TIMEOUT", 0, "14"},                   Change{"NCCL_IB_TIMEOUT", version(2, 14), "18"},
    Change{"NCCL_IB_TIMEOUT", version(2, 23), "20"},      Change{"NCCL_NET_FORCE_FLUSH", version(2, 15), "1"},
    Change{"NCCL_NET_FORCE_FLUSH", version(2, 19), "0"},  Change{"NCCL_NET_GDR_C2C", version(2, 26), "0"},
    Change{"NCCL_NET_GDR_C2C", version(2, 27), "1"},      Change{"NCCL_NVLS_ENABLE", version(2, 17), "1"},
    Change{"NCCL_NVLS_ENABLE", version(2, 18), "2"},      Change{"NCCL_NVLS_NCHANNELS", version(2, 17), "16"},
    Change{"NCCL_NVLS_NCHANNELS", version(2, 25), ""},    Change{"NCCL_PXN_C2C", version(2, 27), "0"},
    Change{"NCCL_PXN_C2C", version(2, 28), "1"},
};

const std::vector<const Variable*>& index() {
  static const std::vector<const Variable*> kIndex = [] {
    std::vector<const Variable*> all;
    for (const std::span<const Variable> table : {documented_variables(), undocumented_variables(), neighbouring_variables()}) {
      for (const Variable& one : table) all.push_back(&one);
    }
    std::sort(all.begin(), all.end(), by_name);
    return all;
  }();
  return kIndex;
}

}  // namespace

std::span<const Variable* const> all_variables() { return index(); }

const Variable* variable_named(std::string_view name) {
  const auto& all = index();
  const auto place = std::lower_bound(all.begin(), all.end(), name, [](const Variable* one, std::string_view wanted) { return one->name < wanted; });
  return place != all.end() && (*place)->name == name ? *place : nullptr;
}

bool of_libnccl(const Variable& variable) { return variable.layer == Layer::Documented || variable.layer == Layer::Undocumented; }

std::string_view standard_at(const Variable& variable, std::optional<Version> version) {
  std::string_view standard = variable.standard;
  if (!version) return standard;
  for (const Change& change : kChanges) {
    if (change.name == variable.name && *version >= change.from) standard = change.standard;
  }
  return standard;
}

}  // namespace verl::nccl
