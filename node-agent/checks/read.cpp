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
  if (!text) return tl::unexpected(why_unread(host, path, text.error()));
  return std::string(trim(*text));
}

Reading<std::int32_t> read_number(const host::Host& host, std::string_view path) { return number_in<std::int32_t>(host, path); }
Reading<std::int32_t> read_number_if_there(const host::Host& host, std::string_view path, std::int32_t otherwise) {
  const auto text = host.read_file(path);
  if (!text && text.error().code == ErrorCode::NotFound) return otherwise;
  return read_number(host, path);
}

Reading<std::uint64_t> read_counter(const host::Host& host, std::string_view path) { return number_in<std::uint64_t>(host, path); }

Reading<std::vector<std::string>> read_names(const host::Host& host, std::string_view path, std::string_view parent) {
  auto names = host.list_dir(path);
  if (names) return std::move(*names);
  if (names.error().code != ErrorCode::NotFound) return tl::unexpected(names.error().message);
  const auto looked = host.is_directory(parent);
  if (looked && *looked) return std::vector<std::string>{};
  if (!looked) return tl::unexpected(looked.error().message);
  return tl::unexpected(why_unread(host, parent, Error{ErrorCode::NotFound, fmt::format("there is no folder {}", parent)}));
}

Reading<std::string> link_name(const host::Host& host, std::string_view path) {
  const auto link = host.read_link(path);
  if (link) return link->substr(link->rfind('/') + 1);
  if (link.error().code == ErrorCode::NotFound) return std::string{};
  return tl::unexpected(link.error().message);
}

std::string why_unread(const host::Host& host, std::string_view path, const Error& error) {
  if (error.code != ErrorCode::NotFound) return error.message;
  const std::string_view top = path.substr(0, path.find('/', 1));
  // A folder that somebody made to mount on is as good as none.
  const std::string_view inside = top == "/sys" ? "/sys/class" : top == "/proc" ? "/proc/sys" : top;
  const auto there = host.is_directory(inside);
  if (there && *there) return error.message;
  return fmt::format("{}; {} of the node is not there: mount it below the folder that --root names", error.message, top);
}

}  // namespace verl::agent
