#include "diagnosis/benchmark/facts.h"

#include <iterator>
#include <utility>

namespace verl::benchmark {

void merge(Facts& into, Facts more) { std::move(more.measurements.begin(), more.measurements.end(), std::back_inserter(into.measurements)); }

}  // namespace verl::benchmark
