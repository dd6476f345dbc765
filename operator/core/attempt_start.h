// Judges an attempt whose pods all exist and none of which has ended: are they bound, started, and is the Ray cluster whole?
#pragma once

#include "operator/core/attempt_view.h"

namespace verl::core {

// True when the view's verdict says how far it is, or which deadline ended it; false: the trainer runs.
bool judge_start(AttemptView& view);

}  // namespace verl::core
