// The frame around the kinds: parsing, what kind an object says it is, pages and events.
#include "codec/decode.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "codec/kinds.h"

namespace verl::codec {
namespace {

constexpr size_t kMaxDepth = 64;

template <class T>
constexpr std::string_view kKind = "";
template <>
constexpr std::string_view kKind<api::Node> = "Node";
template <>
constexpr std::string_view kKind<api::Pod> = "Pod";
template <>
constexpr std::string_view kKind<api::PriorityClass> = "PriorityClass";
template <>
constexpr std::string_view kKind<api::ResourceQuota> = "ResourceQuota";
template <>
constexpr std::string_view kKind<api::Heartbeat> = "Lease";
template <>
constexpr std::string_view kKind<api::VerlJob> = "VerlJob";
template <>
constexpr std::string_view kKind<api::NodeReadiness> = "NodeReadiness";
template <>
constexpr std::string_view kKind<api::ReadinessPolicy> = "ReadinessPolicy";

// Whole numbers beyond 64 bits, which simdjson refuses, as reals, which it takes: Go writes a stored 1e20 out in digits, and
// one such number in one object must not hide a whole page.
std::string with_wide_numbers_as_reals(std::string_view json) {
  constexpr size_t kSafeDigits = 18;
  std::string out;
  out.reserve(json.size() + 64);
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      out += c;
      if (c == '\\' && i + 1 < json.size()) out += json[++i];
      if (c == '"') in_string = false;
      continue;
    }
    const auto is_digit = [](char d) { return d >= '0' && d <= '9'; };
    if (!is_digit(c)) {
      out += c;
      in_string = c == '"';
      continue;
    }
    size_t end = i;
    while (end < json.size() && is_digit(json[end])) ++end;
    const bool whole = end == json.size() || (json[end] != '.' && json[end] != 'e' && json[end] != 'E');
    const bool after_point = i > 0 && (json[i - 1] == '.' || json[i - 1] == '+' || json[i - 1] == 'e' || json[i - 1] == 'E');
    out.append(json.substr(i, end - i));
    if (whole && !after_point && end - i > kSafeDigits) out += "e0";
    i = end - 1;
  }
  return out;
}

// A parsed document; the elements live as long as it does. One parser a document: what a large list needed is given back.
class Document {
 public:
  Result<Element> parse(std::string_view json) {
    Element root;
    auto error = parse_into(root, json);
    if (error == simdjson::NUMBER_ERROR) error = parse_into(root, with_wide_numbers_as_reals(json));
    switch (error) {
      case simdjson::SUCCESS: return root;
      case simdjson::CAPACITY:
      case simdjson::MEMALLOC: return failure(ErrorCode::TooLarge, fmt::format("JSON of {} bytes: {}", json.size(), simdjson::error_message(error)));
      case simdjson::DEPTH_ERROR: return failure(ErrorCode::Invalid, fmt::format("JSON nested more than {} deep", kMaxDepth));
      default: return failure(ErrorCode::Invalid, fmt::format("no JSON: {}", simdjson::error_message(error)));
    }
  }

 private:
  simdjson::error_code parse_into(Element& root, std::string_view json) {
    if (const auto error = parser_.allocate(std::max<size_t>(json.size(), 32), kMaxDepth); error != simdjson::SUCCESS) return error;
    // The parser copies into a padded buffer of its own where the text has no room behind it, and keeps nothing of the text.
    return parser_.parse(json.data(), json.size(), true).get(root);
  }

  simdjson::dom::parser parser_{};
};

std::string text_of(Element object, std::string_view name) {
  const auto value = field_of(object, name);
  std::string_view text;
  return value && value->get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

tl::unexpected<Error> not_wanted(Element value, std::string_view kind, std::string_view wanted) {
  if (kind == "Status") {
    return failure(ErrorCode::Invalid, fmt::format("wanted a {}, got a Status: {}", wanted, shorten(escape_controls(text_of(value, "message")), 512)));
  }
  return failure(ErrorCode::Invalid, fmt::format("wanted a {}, got a {}", wanted, shorten(escape_controls(kind), 64)));
}

template <class T>
Result<T> read_one(Element value) {
  if (!value.is_object()) return failure(ErrorCode::Invalid, fmt::format("wanted a {}, got no object", kKind<T>));
  // Items of lists of built-in kinds do not say what they are.
  const std::string kind = text_of(value, "kind");
  if (!kind.empty() && kind != kKind<T>) return not_wanted(value, kind, kKind<T>);
  T out{};
  read_object(value, out);
  return out;
}

template <class T>
Result<ListPage<T>> read_page(Element root) {
  const std::string wanted = std::string(kKind<T>) + "List";
  if (!root.is_object()) return failure(ErrorCode::Invalid, fmt::format("wanted a {}, got no object", wanted));
  const std::string kind = text_of(root, "kind");
  if (kind != wanted && kind != "List") return not_wanted(root, kind.empty() ? "thing without kind" : kind, wanted);
  ListPage<T> page{};
  if (const auto metadata = field_of(root, "metadata")) {
    page.resource_version = text_of(*metadata, "resourceVersion");
    page.continue_token = text_of(*metadata, "continue");
  }
  const auto items = field_of(root, "items");
  if (!items) return page;
  simdjson::dom::array array;
  if (items->get(array) != simdjson::SUCCESS) return failure(ErrorCode::Invalid, fmt::format("{}: items must be a list", wanted));
  page.items.reserve(array.size());
  for (const Element item : array) {
    auto one = read_one<T>(item);
    if (!one) return tl::unexpected<Error>(context(fmt::format("{}: items[{}]", wanted, page.items.size()))(std::move(one.error())));
    page.items.push_back(std::move(*one));
  }
  return page;
}

std::optional<EventType> event_type(std::string_view word) {
  if (word == "ADDED") return EventType::Added;
  if (word == "MODIFIED") return EventType::Modified;
  if (word == "DELETED") return EventType::Deleted;
  if (word == "BOOKMARK") return EventType::Bookmark;
  return std::nullopt;
}

template <class T>
Result<Event<T>> read_event(Element root) {
  if (!root.is_object()) return failure(ErrorCode::Invalid, "wanted a watch event, got no object");
  const std::string word = text_of(root, "type");
  const auto object = field_of(root, "object");
  if (!object) return failure(ErrorCode::Invalid, "a watch event without object");
  if (word == "ERROR") {
    return failure(ErrorCode::Unavailable, fmt::format("the watch ended: {}", shorten(escape_controls(text_of(*object, "message")), 512)));
  }
  const auto type = event_type(word);
  if (!type) return failure(ErrorCode::Invalid, fmt::format("a watch event of type \"{}\"", shorten(escape_controls(word), 64)));
  auto one = read_one<T>(*object);
  if (!one) return tl::unexpected<Error>(std::move(one.error()));
  return Event<T>{.type = *type, .object = std::move(*one)};
}

}  // namespace

template <class T>
Result<T> decode_object(std::string_view json) {
  Document document;
  const auto root = document.parse(json);
  if (!root) return tl::unexpected<Error>(context(std::string(kKind<T>))(root.error()));
  return read_one<T>(*root);
}

template <class T>
Result<ListPage<T>> decode_list(std::string_view json) {
  Document document;
  const auto root = document.parse(json);
  if (!root) return tl::unexpected<Error>(context(std::string(kKind<T>) + "List")(root.error()));
  return read_page<T>(*root);
}

template <class T>
Result<Event<T>> decode_event(std::string_view json) {
  Document document;
  const auto root = document.parse(json);
  if (!root) return tl::unexpected<Error>(context("watch event of a " + std::string(kKind<T>))(root.error()));
  return read_event<T>(*root);
}

#define VERL_DECODE(T)                                            \
  template Result<T> decode_object<T>(std::string_view);          \
  template Result<ListPage<T>> decode_list<T>(std::string_view);  \
  template Result<Event<T>> decode_event<T>(std::string_view);
VERL_DECODE(api::Node)
VERL_DECODE(api::Pod)
VERL_DECODE(api::PriorityClass)
VERL_DECODE(api::ResourceQuota)
VERL_DECODE(api::Heartbeat)
VERL_DECODE(api::VerlJob)
VERL_DECODE(api::NodeReadiness)
VERL_DECODE(api::ReadinessPolicy)
#undef VERL_DECODE

}  // namespace verl::codec
