// One page of a list: its version, where the next page begins, and the text of each item.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/protocol/resource.h"

namespace verl::kube {

struct ListPage {
  std::string resource_version{};
  std::string continue_token{};             // empty on the last page
  std::vector<std::string_view> items{};    // views into the body; kJsonPadding bytes past each end are readable
};

// Error (Invalid) when the body is not a complete list of `resource`, a Table or another kind included.
// Makes room behind the body for the padding, so the views stay valid as long as the body is not touched.
Result<ListPage> parse_list_page(std::string& body, const Resource& resource);

}  // namespace verl::kube
