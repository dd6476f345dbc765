// The little of XML that topology files need: a bounded parse without document types that declare anything, and a walk in
// document order that does not recurse (files nest as deep as their author likes).
#pragma once

#include <pugixml.hpp>

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace verl::topology {

// Refuses entity declarations (entity bombs); hwloc's plain DOCTYPE is taken. Text after the root element is an error.
Result<void> parse_xml(std::string_view text, pugi::xml_document& into);

// Name of the root element as far as the head shows it: "system", "graphs", "topology"; "" when the text is no XML.
std::string_view root_element(std::string_view head);

// All elements below (and including) the root, in document order; at most `most`. False: there were more.
bool for_each_element(const pugi::xml_node& root, std::size_t most, const std::function<void(const pugi::xml_node&)>& visit);

}  // namespace verl::topology
