#include "diagnosis/time/facts.h"

#include <utility>

namespace verl::clock {

void merge(Facts& into, Facts more) {
  if (!into.offset_s) into.offset_s = more.offset_s;
  if (!into.error_bound_s) into.error_bound_s = more.error_bound_s;
  if (into.reference.empty()) into.reference = std::move(more.reference);
  if (!into.stratum) into.stratum = more.stratum;
  if (!into.synchronised) into.synchronised = more.synchronised;
  if (!into.local_only) into.local_only = more.local_only;
}

}  // namespace verl::clock
