// For the .cpp files of codec only: reading typed values out of a parsed document while keeping track of where they stand,
// so that what cannot be read is named by its path.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <ratio>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/node.h"
#include "base/time.h"

namespace verl::codec {

using Element = simdjson::dom::element;

// A place in a document, linked to the one around it. Lives on the stack while the value is read.
class Place {
 public:
  Place() = default;
  static Place field(const Place& parent, std::string_view name) { return {&parent, name, kField}; }
  static Place entry(const Place& parent, std::string_view key) { return {&parent, key, kEntry}; }
  static Place item(const Place& parent, std::int64_t index) { return {&parent, {}, index}; }
  std::string text() const;  // spec.pools[0].nodes, status.allocatable[nvidia.com/gpu]

 private:
  static constexpr std::int64_t kField = -1;
  static constexpr std::int64_t kEntry = -2;
  Place(const Place* parent, std::string_view key, std::int64_t index) : parent_(parent), key_(key), index_(index) {}

  const Place* parent_{nullptr};
  std::string_view key_{};
  std::int64_t index_{kField};
};

// What could not be read of one object: at most 32 sentences.
class Faults {
 public:
  explicit Faults(std::vector<std::string>& sentences) : sentences_(sentences) {}
  void add(const Place& at, std::string_view sentence);
  void add_unlike(const Place& at, std::string_view wanted, Element value);  // "must be WANTED, is VALUE"
  size_t count() const { return count_; }

 private:
  size_t count_{0};  // those beyond the 32 included
  std::vector<std::string>& sentences_;
};

// Calls visit(key, value, place) for each field that is not null. A value that is no object is a fault.
template <class Visit>
void each_field(Element value, const Place& at, Faults& faults, Visit&& visit) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return faults.add_unlike(at, "an object", value);
  for (const auto field : object) {
    if (!field.value.is_null()) visit(field.key, field.value, Place::field(at, field.key));
  }
}

// The same for a map, whose keys are data and stand in brackets in a path.
template <class Visit>
void each_entry(Element value, const Place& at, Faults& faults, Visit&& visit) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return faults.add_unlike(at, "a map", value);
  for (const auto field : object) {
    if (!field.value.is_null()) visit(field.key, field.value, Place::entry(at, field.key));
  }
}

template <class Visit>
void each_item(Element value, const Place& at, Faults& faults, Visit&& visit) {
  simdjson::dom::array array;
  if (value.get(array) != simdjson::SUCCESS) return faults.add_unlike(at, "a list", value);
  std::int64_t index = 0;
  for (const Element item : array) visit(item, Place::item(at, index++));
}

// The field of that name, the last of several; nothing when it is absent or null, or the value is no object.
std::optional<Element> field_of(Element value, std::string_view name);

// Each sets `out` when the value is of its type, else adds a fault and leaves `out` alone.
void read(Element value, std::string& out, const Place& at, Faults& faults);
void read(Element value, bool& out, const Place& at, Faults& faults);
void read(Element value, Timestamp& out, const Place& at, Faults& faults);                           // RFC 3339
void read(Element value, std::vector<std::string>& out, const Place& at, Faults& faults);            // replaces
void read(Element value, std::map<std::string, std::string>& out, const Place& at, Faults& faults);  // replaces

// A quantity, text or number, in thousandths.
std::optional<std::int64_t> read_quantity_milli(Element value, const Place& at, Faults& faults);
void read(Element value, api::Resources& out, const Place& at, Faults& faults);  // replaces

std::optional<std::int64_t> read_integer(Element value, std::int64_t low, std::int64_t high, const Place& at, Faults& faults);

template <class Int, class = std::enable_if_t<std::is_integral_v<Int> && !std::is_same_v<Int, bool>>>
void read(Element value, Int& out, const Place& at, Faults& faults) {
  const auto number = read_integer(value, std::numeric_limits<Int>::min(), std::numeric_limits<Int>::max(), at, faults);
  if (number) out = static_cast<Int>(*number);
}

// Seconds are counted in microseconds later on: 10 years are more than anybody means and far from where that would overflow.
template <class Rep, class Period>
void read(Element value, std::chrono::duration<Rep, Period>& out, const Place& at, Faults& faults) {
  constexpr bool kCoarse = std::ratio_greater_equal_v<Period, std::ratio<1>>;
  constexpr std::int64_t kTenYears = std::int64_t{10} * 365 * 24 * 3600;
  const auto count = kCoarse ? read_integer(value, 0, kTenYears, at, faults)
                             : read_integer(value, std::numeric_limits<Rep>::min(), std::numeric_limits<Rep>::max(), at, faults);
  if (count) out = std::chrono::duration<Rep, Period>(*count);
}

template <class T>
void read(Element value, std::optional<T>& out, const Place& at, Faults& faults) {
  T inner{};
  const size_t before = faults.count();
  read(value, inner, at, faults);
  if (faults.count() == before) {
    out = std::move(inner);
  } else {
    out.reset();
  }
}

// One of a closed set of words; `words` pairs text and value.
template <class Enum, size_t N>
void read_word(Element value, Enum& out, const std::pair<std::string_view, Enum> (&words)[N], const Place& at, Faults& faults) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    for (const auto& [word, meaning] : words) {
      if (word == text) {
        out = meaning;
        return;
      }
    }
  }
  std::string wanted = "one of";
  for (const auto& word : words) wanted.append(" ").append(word.first);
  faults.add_unlike(at, wanted, value);
}

// Fills `out` anew with one T per item; `read_item(element, T&, place)` reads each. A null item is a fault.
template <class T, class ReadItem>
void read_list(Element value, std::vector<T>& out, const Place& at, Faults& faults, ReadItem&& read_item) {
  out.clear();
  each_item(value, at, faults, [&](Element item, const Place& place) {
    T one{};
    read_item(item, one, place);
    out.push_back(std::move(one));
  });
}

}  // namespace verl::codec
