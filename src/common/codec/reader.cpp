#include "codec/reader.h"

#include <fmt/format.h>

#include "base/quantity.h"
#include "base/text.h"

namespace verl::codec {

std::string Place::text() const {
  if (parent_ == nullptr) return "";
  std::string before = parent_->text();
  if (index_ >= 0) return fmt::format("{}[{}]", before, index_);
  const std::string key = shorten(escape_controls(key_), 128);
  if (index_ == kEntry) return fmt::format("{}[{}]", before, key);
  return before.empty() ? key : fmt::format("{}.{}", before, key);
}

void Faults::add(const Place& at, std::string_view sentence) {
  constexpr size_t kMost = 32;
  ++count_;
  if (sentences_.size() >= kMost) return;
  const std::string where = at.text();
  sentences_.push_back(where.empty() ? std::string(sentence) : fmt::format("{}: {}", where, sentence));
}

void Faults::add_unlike(const Place& at, std::string_view wanted, Element value) {
  constexpr size_t kLongest = 64;
  std::string_view text;
  const std::string is = value.get(text) == simdjson::SUCCESS ? fmt::format("\"{}\"", shorten(escape_controls(text), kLongest))
                         : value.is_object()                  ? "a map"
                         : value.is_array()                   ? "a list"
                                                              : std::string(simdjson::minify(value));
  add(at, fmt::format("must be {}, is {}", wanted, is));
}

std::optional<Element> field_of(Element value, std::string_view name) {
  std::optional<Element> found;
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return found;
  for (const auto field : object) {
    if (field.key == name) found = field.value;
  }
  if (found && found->is_null()) found.reset();
  return found;
}

void read(Element value, std::string& out, const Place& at, Faults& faults) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return faults.add_unlike(at, "a string", value);
  out.assign(text);
}

void read(Element value, bool& out, const Place& at, Faults& faults) {
  bool flag = false;
  if (value.get(flag) != simdjson::SUCCESS) return faults.add_unlike(at, "true or false", value);
  out = flag;
}

void read(Element value, Timestamp& out, const Place& at, Faults& faults) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return faults.add_unlike(at, "a time", value);
  const auto time = parse_rfc3339(text);
  if (!time) return faults.add(at, fmt::format("\"{}\" is no RFC 3339 time", shorten(escape_controls(text), 64)));
  out = *time;
}

void read(Element value, std::vector<std::string>& out, const Place& at, Faults& faults) {
  read_list(value, out, at, faults, [&](Element item, std::string& text, const Place& place) { read(item, text, place, faults); });
}

void read(Element value, std::map<std::string, std::string>& out, const Place& at, Faults& faults) {
  out.clear();
  each_entry(value, at, faults, [&](std::string_view key, Element entry, const Place& place) {
    std::string_view text;
    if (entry.get(text) != simdjson::SUCCESS) return faults.add_unlike(place, "a string", entry);
    out.insert_or_assign(std::string(key), std::string(text));
  });
}

std::optional<std::int64_t> read_quantity_milli(Element value, const Place& at, Faults& faults) {
  std::string_view text;
  std::string number;
  if (value.get(text) != simdjson::SUCCESS) {
    // The apiserver writes quantities as text; files that people keep may hold bare numbers.
    if (value.is_int64() || value.is_uint64() || value.is_double()) {
      number = simdjson::minify(value);
      text = number;
    } else {
      faults.add_unlike(at, "a quantity", value);
      return std::nullopt;
    }
  }
  const auto amount = parse_quantity_milli(text);
  if (!amount) faults.add(at, fmt::format("\"{}\" is no quantity that can be counted", shorten(escape_controls(text), 64)));
  return amount;
}

void read(Element value, api::Resources& out, const Place& at, Faults& faults) {
  out.clear();
  each_entry(value, at, faults, [&](std::string_view key, Element entry, const Place& place) {
    if (const auto amount = read_quantity_milli(entry, place, faults)) out.insert_or_assign(std::string(key), *amount);
  });
}

std::optional<std::int64_t> read_integer(Element value, std::int64_t low, std::int64_t high, const Place& at, Faults& faults) {
  std::int64_t number = 0;
  if (value.get(number) != simdjson::SUCCESS) {
    if (value.is_uint64()) {
      faults.add(at, std::string(simdjson::minify(value)) + " is too large");
    } else {
      faults.add_unlike(at, "a whole number", value);
    }
    return std::nullopt;
  }
  if (number < low || number > high) {
    faults.add(at, fmt::format("{} is outside {} to {}", number, low, high));
    return std::nullopt;
  }
  return number;
}

}  // namespace verl::codec
