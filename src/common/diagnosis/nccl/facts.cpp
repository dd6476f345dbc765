#include "diagnosis/nccl/facts.h"

#include <iterator>
#include <utility>

namespace verl::nccl {

void merge(Facts& into, Facts more) {
  std::move(more.environments.begin(), more.environments.end(), std::back_inserter(into.environments));
  if (into.loaded_version.empty()) into.loaded_version = std::move(more.loaded_version);
  if (into.hostname_address.empty()) into.hostname_address = std::move(more.hostname_address);
  merge(into.host, std::move(more.host));
}

}  // namespace verl::nccl
