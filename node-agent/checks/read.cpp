#include "node-agent/checks/read.h"

#include <fmt/format.h>

#include "base/text.h"

namespace verl::agent {
namespace {

template <class Int>
Reading<Int> number_in(const host::Host& host, std::string_view path) {
  const auto text = read_text(host, path);
  if (!text) return tl::unexpected(text.error());
  const auto number = parse_int<Int>(*text);
  if (!number) return tl::unexpected(fmt::format("{} holds \"{}\", no number", path, shorten(escape_controls(*text), 60)));
  return *number;
}

}  // namespace

Reading<std::string> read_text(const host::Host& host, std::string_view path) {
  const auto text = host.read_file(path);
  if (!text) return tl::unexpected(text.error().message);
  return std::string(trim(*text));
}

Reading<std::int32_t> read_number(const host::Host& host, std::string_view path) { return number_in<std::int32_t>(host, path); }
Reading<std::uint64_t> read_counter(const host::Host& host, std::string_view path) { return number_in<std::uint64_t>(host, path); }

Reading<std::vector<std::string>> read_names(const host::Host& host, std::string_view path) {
  auto names = host.list_dir(path);
  if (names) return std::move(*names);
  if (names.error().code == ErrorCode::NotFound) return std::vector<std::string>{};
  return tl::unexpected(names.error().message);
}

std::string link_name(const host::Host& host, std::string_view path) {
  const auto link = host.read_link(path);
  if (!link) return {};
  return link->substr(link->rfind('/') + 1);
}

}  // namespace verl::agent
