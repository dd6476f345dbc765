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
// `otherwise` where there is no such file; a file that cannot be read has no reading.
Reading<std::int32_t> read_number_if_there(const host::Host& host, std::string_view path, std::int32_t otherwise);
Reading<std::uint64_t> read_counter(const host::Host& host, std::string_view path);

// Names in a folder. A folder that does not exist has none, but only where `parent` does: without that nobody looked.
Reading<std::vector<std::string>> read_names(const host::Host& host, std::string_view path, std::string_view parent);

// The last part of what the link points to ("0000:9b:00.0"), empty when there is no link.
Reading<std::string> link_name(const host::Host& host, std::string_view path);

// Why there is no reading, with what to do when the whole of /sys, /proc or /etc is not there.
std::string why_unread(const host::Host& host, std::string_view path, const Error& error);

template <class T>
Reading<T> reading(Result<T> result) {
  if (result) return std::move(*result);
  return tl::unexpected(result.error().message);
}

}  // namespace verl::agent
