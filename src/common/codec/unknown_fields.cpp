#include "codec/unknown_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "codec/decode.h"
#include "codec/encode.h"

namespace verl::codec {
namespace {

using Json = nlohmann::json;

bool says_nothing(const Json& value) {
  return value.is_null() || (value.is_array() && value.empty()) || (value.is_string() && value.get_ref<const std::string&>().empty());
}

// What stands in `given` and not in `known`, which is the same object read and written again.
void compare(const Json& given, const Json& known, const std::string& at, std::vector<std::string>& unknown) {
  if (given.is_object() && known.is_object()) {
    for (const auto& item : given.items()) {
      const std::string path = fmt::format("{}.{}", at, shorten(escape_controls(item.key()), 128));
      const auto found = known.find(item.key());
      if (found != known.end()) {
        compare(item.value(), *found, path, unknown);
      } else if (item.value().is_object()) {
        // A group of which nothing was understood is not written again: what stands in it is named.
        compare(item.value(), Json::object(), path, unknown);
      } else if (!says_nothing(item.value())) {
        unknown.push_back(path);
      }
    }
  } else if (given.is_array() && known.is_array()) {
    for (size_t i = 0; i < std::min(given.size(), known.size()); ++i) compare(given[i], known[i], fmt::format("{}[{}]", at, i), unknown);
  }
}

// "spec.nccl.env[A]" and "spec.nccl.env.A" are one place.
std::string plain(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c != ']') out += c == '[' ? '.' : c;
  }
  return out;
}

// Read and found wrong: known, and told elsewhere with its value.
bool is_unreadable(const std::string& path, const std::vector<std::string>& sentences) {
  const std::string own = plain(path) + ".";
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& sentence) { return own.starts_with(plain(std::string_view(sentence).substr(0, sentence.find(": "))) + "."); });
}

}  // namespace

template <class T>
Result<std::vector<std::string>> unknown_fields(std::string_view json) {
  const auto object = decode_object<T>(json);
  if (!object) return tl::unexpected<Error>(object.error());
  // Text that was just decoded parses, and is nested no deeper than decoding allows.
  const Json given = Json::parse(json, nullptr, false);
  const Json known = Json::parse(encode(*object), nullptr, false);
  std::vector<std::string> unknown;
  if (given.contains("spec")) compare(given["spec"], known["spec"], "spec", unknown);
  unknown.erase(std::remove_if(unknown.begin(), unknown.end(), [&](const std::string& path) { return is_unreadable(path, object->unreadable); }), unknown.end());
  return unknown;
}

template Result<std::vector<std::string>> unknown_fields<api::VerlJob>(std::string_view);
template Result<std::vector<std::string>> unknown_fields<api::ReadinessPolicy>(std::string_view);

}  // namespace verl::codec
