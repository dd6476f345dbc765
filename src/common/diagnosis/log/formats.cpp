#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> log_formats() { return {}; }

}  // namespace verl::diagnosis
