#include "diagnosis/topology/xml.h"

#include "base/text.h"

namespace verl::topology {
namespace {

// Nesting that pugixml's destructor and our walk take without a deep stack; real files stay below 30.
constexpr int kDeepest = 512;

bool too_deep(const pugi::xml_node& root) {
  int depth = 0;
  pugi::xml_node node = root;
  while (node) {
    if (pugi::xml_node child = node.first_child()) {
      node = child;
      if (++depth > kDeepest) return true;
      continue;
    }
    while (node && node != root && !node.next_sibling()) {
      node = node.parent();
      --depth;
    }
    if (!node || node == root) return false;
    node = node.next_sibling();
  }
  return false;
}

}  // namespace

std::string_view root_element(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  while (true) {
    head = trim(head);
    if (head.size() < 2 || head.front() != '<') return {};
    if (head[1] == '?' || head[1] == '!') {
      const std::string_view end = head.starts_with("<!--") ? "-->" : ">";
      const size_t at = head.find(end);
      if (at == std::string_view::npos) return {};
      head.remove_prefix(at + end.size());
      continue;
    }
    const size_t end = head.find_first_of(" \t\r\n/>", 1);
    return end == std::string_view::npos ? std::string_view{} : head.substr(1, end - 1);
  }
}

Result<void> parse_xml(std::string_view text, pugi::xml_document& into) {
  // No tool writes these, and pugixml skips them without a word.
  if (text.find("<!ENTITY") != std::string_view::npos) return failure(ErrorCode::Invalid, "the XML declares entities: it is not read");
  const pugi::xml_parse_result parsed = into.load_buffer(text.data(), text.size(), pugi::parse_default & ~pugi::parse_doctype);
  if (!parsed) {
    return failure(ErrorCode::Invalid, "the XML is broken at byte " + std::to_string(parsed.offset) + ": " + std::string(parsed.description()));
  }
  if (too_deep(into)) return failure(ErrorCode::Invalid, "the XML nests deeper than " + std::to_string(kDeepest) + " elements");
  return {};
}

bool for_each_element(const pugi::xml_node& root, std::size_t most, const std::function<void(const pugi::xml_node&)>& visit) {
  std::size_t seen = 0;
  pugi::xml_node node = root;
  while (node) {
    if (node.type() == pugi::node_element) {
      if (++seen > most) return false;
      visit(node);
    }
    if (pugi::xml_node child = node.first_child()) {
      node = child;
      continue;
    }
    while (node && node != root && !node.next_sibling()) node = node.parent();
    if (!node || node == root) return true;
    node = node.next_sibling();
  }
  return true;
}

}  // namespace verl::topology
