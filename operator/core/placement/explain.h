// Why no placement exists, from the numbers that decided it.
#pragma once

#include "operator/core/placement/fabric.h"

namespace verl::core::placement {

// Requires that the search found nothing; `complete` tells whether it looked everywhere.
Shortage explain(const Problem& problem, const Fabric& fabric, bool complete);

}  // namespace verl::core::placement
