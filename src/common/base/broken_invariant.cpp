#include "base/broken_invariant.h"

#include <cstdio>
#include <cstdlib>

namespace verl {

void broken_invariant(std::string_view sentence) {
  std::fprintf(stderr, "broken invariant: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
  std::abort();
}

}  // namespace verl
