#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> kubernetes_formats() { return {}; }

}  // namespace verl::diagnosis
