// A broken invariant is a fault of this program, never of its input: it ends the process with a sentence.
#pragma once

#include <string_view>

namespace verl {

// Prints "broken invariant: <sentence>" to standard error and aborts.
[[noreturn]] void broken_invariant(std::string_view sentence);

}  // namespace verl
