#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> topology_formats() { return {}; }

}  // namespace verl::diagnosis
