#include "diagnosis/rule.h"

#include "diagnosis/nccl/rule_tables.h"

namespace verl::diagnosis {

std::span<const Rule> nccl_rules() {
  static const std::vector<Rule> kAll = [] {
    std::vector<Rule> all;
    for (const std::span<const Rule> group : {nccl::value_rules(), nccl::name_rules(), nccl::hygiene_rules(), nccl::hardware_rules(),
                                              nccl::fleet_rules(), nccl::framework_rules()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace verl::diagnosis
