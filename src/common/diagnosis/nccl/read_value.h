// What NCCL makes of a text: one function for each kind of reader in its source. Never whether that is wise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/nccl/catalogue.h"

namespace verl::nccl {

// strtoll(text, NULL, 0) as ncclLoadParam calls it (src/misc/param.cc): a number in front counts, whatever follows is left.
struct IntegerText {
  std::optional<std::int64_t> number{};  // nothing: the default is used, because the text is empty or the number too large
  bool digits{false};                    // there was a number in front; without one the result is 0
  bool overflow{false};
  int base{10};                          // 8 and 16 by a leading 0 and 0x
  std::string_view rest{};               // not read
  bool operator==(const IntegerText&) const = default;
};

IntegerText read_integer(std::string_view text);

// 1/T/TRUE and 0/F/FALSE in any case, nothing else (src/include/param/parser_default.h, 2.30.7).
std::optional<bool> read_boolean(std::string_view text);

// The reader of integers reads this variable in every release, or in that one.
bool reads_as_integer(const Variable& variable, std::optional<Version> version);

// The reader of 1/T/TRUE reads it in that release.
bool reads_as_boolean(const Variable& variable, Version version);

// Acts on 1 only: src/transport/shm.cc, src/graph/paths.cc compare with 1.
bool acts_on_one_only(std::string_view name);

// A path level of NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL, or of NCCL_NET_MERGE_LEVEL, which has words of its own
// (src/graph/paths.cc, topo.cc). Nothing: NCCL ignores the text.
std::optional<std::string_view> read_level(std::string_view name, std::string_view text, std::optional<Version> version);

// The words of that variable in that release, for people: "LOC, NVL, ... or SYS".
std::string level_words(std::string_view name, std::optional<Version> version);

// What NCCL uses for an integer, for people: "3", "the default (1)", "8, because a leading 0 means octal".
std::string used_integer(const Variable& variable, std::string_view text, std::optional<Version> version);

// The number an integer variable has; nothing: not set, or the default is used.
std::optional<std::int64_t> number_of(std::optional<std::string_view> text);

bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace verl::nccl
