#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> benchmark_formats() { return {}; }

}  // namespace verl::diagnosis
