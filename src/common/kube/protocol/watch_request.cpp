#include "kube/protocol/watch_request.h"

namespace verl::kube {
namespace {

void add_selectors(const WatchTarget& target, Request& request) {
  if (!target.label_selector.empty()) request.query.push_back({"labelSelector", target.label_selector});
  if (!target.field_selector.empty()) request.query.push_back({"fieldSelector", target.field_selector});
}

}  // namespace

Request to_request(const WatchTarget& target, const ListRequest& list, const ReflectorOptions& options) {
  Request request{.path = resource_path(target.resource, target.name_space), .timeout = options.list_timeout, .max_body = options.max_list_body};
  if (list.limit) request.query.push_back({"limit", std::to_string(*list.limit)});
  if (!list.continue_token.empty()) request.query.push_back({"continue", list.continue_token});
  if (list.resource_version) request.query.push_back({"resourceVersion", *list.resource_version});
  add_selectors(target, request);
  return request;
}

Request to_request(const WatchTarget& target, const WatchRequest& watch, const ReflectorOptions& options) {
  Request request{.path = resource_path(target.resource, target.name_space), .timeout = watch.timeout + options.watch_grace};
  request.query = {{"watch", "true"},
                   {"resourceVersion", watch.resource_version},
                   {"allowWatchBookmarks", "true"},
                   {"timeoutSeconds", std::to_string(watch.timeout.count())}};
  add_selectors(target, request);
  return request;
}

}  // namespace verl::kube
