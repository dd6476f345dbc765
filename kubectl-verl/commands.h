// The commands: each reads a source, asks the decision core and prints. They return exit codes and write nothing to a cluster.
#pragma once

#include "kubectl-verl/options.h"

namespace verl::cli {

int run_report(const Options& options, const Edges& edges);
int run_plan(const Options& options, const Edges& edges);
int run_explain(const Options& options, const Edges& edges);
int run_snapshot(const Options& options, const Edges& edges);

}  // namespace verl::cli
