#include "diagnosis/format.h"

namespace verl::diagnosis {

std::span<const Format> nccl_formats() { return {}; }

}  // namespace verl::diagnosis
