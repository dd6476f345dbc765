// Small readings of one file, with the path in the reason when they fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/host.h"
#include "node-agent/checks/observation.h"

namespace verl::agent {

Reading<std::string> read_text(const host::Host& host, std::string_view path);  // trimmed
Reading<std::int32_t> read_number(const host::Host& host, std::string_view path);
Reading<std::uint64_t> read_counter(const host::Host& host, std::string_view path);

// Names in a directory; a directory that does not exist has none.
Reading<std::vector<std::string>> read_names(const host::Host& host, std::string_view path);

// The last part of what the link points to ("0000:9b:00.0"), empty when there is no link.
std::string link_name(const host::Host& host, std::string_view path);

template <class T>
Reading<T> reading(Result<T> result) {
  if (result) return std::move(*result);
  return tl::unexpected(result.error().message);
}

}  // namespace verl::agent
