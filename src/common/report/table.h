// For the .cpp files that print tables: the lines of one check.
#pragma once

#include <string>

#include "report/layout.h"
#include "report/readiness.h"

namespace verl::report {

// Mark, title and id, then the problems. `names_nodes`: each problem opens with the names of its nodes. `link`: address of
// the section about it, empty for none; only shown where something is wrong.
std::string check_lines(const CheckLine& check, const std::string& link, bool names_nodes, const Style& style);

// "ens3f0 1500, wants >= 9000; …"
std::string problem_text(const Problem& problem, const Style& style);

// "Ready: no. 1 error, 1 warning, 2 unknown."
std::string counts_line(bool ready, const Counts& counts);

}  // namespace verl::report
