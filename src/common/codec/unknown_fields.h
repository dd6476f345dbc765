// Fields of a file that nobody knows: the apiserver refuses them, a plan over a file must not pass over them in silence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace verl::codec {

// Paths below spec of what is given and would be ignored, sorted; T is api::VerlJob or api::ReadinessPolicy. Not among them: known
// fields with a value of another kind, which the object's `unreadable` tells. Fields inside a pod template are not judged here: core
// has its allow-list.
template <class T>
Result<std::vector<std::string>> unknown_fields(std::string_view json);

}  // namespace verl::codec
