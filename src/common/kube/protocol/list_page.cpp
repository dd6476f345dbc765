#include "kube/protocol/list_page.h"

#include "kube/protocol/json_scan.h"

namespace verl::kube {
namespace {

using simdjson::error_code;
using simdjson::ondemand::value;

error_code read_items(value items, std::vector<std::string_view>& out) {
  simdjson::ondemand::array array;
  bool null = false;
  if (items.is_null().get(null) == simdjson::SUCCESS && null) return simdjson::SUCCESS;
  if (const auto error = items.get_array().get(array)) return error;
  for (auto element : array) {
    value item;
    if (const auto error = element.get(item)) return error;
    std::string_view raw;
    if (const auto error = json_scan::raw_object(item, raw)) return error;
    out.push_back(raw);
  }
  return simdjson::SUCCESS;
}

error_code read_list_metadata(value metadata, ListPage& page) {
  simdjson::ondemand::object fields;
  const auto error = metadata.get_object().get(fields);
  if (error == simdjson::INCORRECT_TYPE) return simdjson::SUCCESS;
  if (error) return error;
  return json_scan::each_field(fields, [&](std::string_view key, value field) {
    if (key == "resourceVersion") page.resource_version = json_scan::string_or_empty(field);
    if (key == "continue") page.continue_token = json_scan::string_or_empty(field);
    return simdjson::SUCCESS;
  });
}

}  // namespace

Result<ListPage> parse_list_page(std::string& body, const Resource& resource) {
  body.reserve(body.size() + kJsonPadding);
  // Not thread_local: a page of megabytes would pin tens of megabytes of index for good.
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  if (const auto error = parser.iterate(json_scan::padded(body)).get(document)) {
    return json_scan::invalid("read a list", error);
  }
  simdjson::ondemand::object fields;
  if (const auto error = document.get_object().get(fields)) return json_scan::invalid("read a list", error);
  ListPage page;
  std::string kind;
  std::string version;
  bool has_items = false;
  // Lists of custom resources come with sorted keys: items may stand before kind and metadata.
  const auto error = json_scan::each_field(fields, [&](std::string_view key, value field) {
    if (key == "kind") kind = json_scan::string_or_empty(field);
    if (key == "apiVersion") version = json_scan::string_or_empty(field);
    if (key == "metadata") return read_list_metadata(field, page);
    if (key == "items") {
      has_items = true;
      page.items.clear();
      return read_items(field, page.items);
    }
    return simdjson::SUCCESS;
  });
  if (error) return json_scan::invalid("read a list", error);
  if (json_scan::has_more(document)) return failure(ErrorCode::Invalid, "read a list: something follows its end");
  if (kind != resource.kind + "List" || version != api_version(resource)) {
    return failure(ErrorCode::Invalid, "read a list: the server sent " + version + " " + kind + ", wanted " +
                                           api_version(resource) + " " + resource.kind + "List");
  }
  if (!has_items) return failure(ErrorCode::Invalid, "read a list: it has no items field");
  return page;
}

}  // namespace verl::kube
