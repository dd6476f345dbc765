#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> time_formats() { return {}; }

}  // namespace verl::diagnosis
