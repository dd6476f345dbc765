#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> fabric_formats() { return {}; }

}  // namespace verl::diagnosis
