#include "report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace verl::report {
namespace {

using Json = nlohmann::ordered_json;

std::string escaped(std::uint32_t c) { return fmt::format("\\u{:04x}", c); }

// nlohmann escapes what JSON demands. DEL, the C1 controls, U+2028..U+202E, U+200B..U+200F, U+2060..U+206F and U+FEFF are left to us.
std::string dump(const Json& value, int indent) {
  const std::string text = value.dump(indent, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto at = [&](size_t k) -> std::uint32_t { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0; };
    if (at(0) == 0x7F) {
      out += escaped(0x7F);
    } else if (at(0) == 0xC2 && at(1) < 0xA0) {
      out += escaped(at(1));
      ++i;
    } else if ((at(0) & 0xF0U) == 0xE0) {
      const std::uint32_t c = ((at(0) & 0x0FU) << 12U) | ((at(1) & 0x3FU) << 6U) | (at(2) & 0x3FU);
      const bool hidden = (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
      out += hidden ? escaped(c) : text.substr(i, 3);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool plain_key(const std::string& key) {
  const auto word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  // Short words may be true, off or null to some readers.
  return key.size() > 5 && std::all_of(key.begin(), key.end(), word);
}

bool known_key(const std::string& key) {
  for (const char* name : {"kind", "time", "ready", "nodes", "gpus", "level", "name", "good", "seen", "title", "id", "rank", "racks", "pool", "node", "docs", "fits", "count", "check", "policy"}) {
    if (key == name) return true;
  }
  return plain_key(key);
}

void emit(const Json& value, size_t depth, std::string& out);

// What stands behind "key:" or "-": on the same line where it is short, else on lines of its own.
void emit_inner(const Json& value, size_t depth, std::string& out) {
  if (value.is_structured() && !value.empty()) {
    out += "\n";
    emit(value, depth, out);
  } else {
    out += " " + dump(value, -1) + "\n";
  }
}

void emit(const Json& value, size_t depth, std::string& out) {
  const std::string indent(depth * 2, ' ');
  if (value.is_object() && !value.empty()) {
    for (const auto& entry : value.items()) {
      out += indent + (known_key(entry.key()) ? entry.key() : dump(Json(entry.key()), -1)) + ":";
      emit_inner(entry.value(), depth + 1, out);
    }
  } else if (value.is_array() && !value.empty()) {
    for (const Json& item : value) {
      if (!item.is_structured() || item.empty()) {
        out += indent + "- " + dump(item, -1) + "\n";
        continue;
      }
      std::string inner;
      emit(item, depth + 1, inner);
      inner.replace(indent.size(), 2, "- ");  // its first line begins two columns further right than ours
      out += inner;
    }
  } else {
    out += indent + dump(value, -1) + "\n";
  }
}

}  // namespace

std::string json_text(const Json& document) { return dump(document, 2) + "\n"; }

std::string yaml_text(const Json& document) {
  std::string out;
  emit(document, 0, out);
  return out;
}

}  // namespace verl::report
