#include "diagnosis/log/facts.h"

#include <iterator>
#include <utility>

namespace verl::log {

void merge(Facts& into, Facts more) { std::move(more.networks.begin(), more.networks.end(), std::back_inserter(into.networks)); }

}  // namespace verl::log
