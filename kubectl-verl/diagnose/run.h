// diagnose, lint and nccl-log: reads what people have, judges it and prints. Writes nothing anywhere else.
#pragma once

#include <iosfwd>

#include "kubectl-verl/diagnose/options.h"

namespace verl::cli {

// 0 nothing at or above the level; 79 findings there; 1 something could not be opened or nothing at all could be read (what could is
// printed still); 64 the options contradict, an unknown format among them.
int run_diagnose(const DiagnoseOptions& options, std::ostream& out, std::ostream& err);

}  // namespace verl::cli
