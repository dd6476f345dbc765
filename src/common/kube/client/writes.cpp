#include "kube/client/writes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "kube/protocol/api_status.h"

namespace verl::kube {
namespace {

constexpr int kMostConflicts = 5;

Result<CreateResult> created_from(const Reply& reply, bool created) {
  auto object = decode_written(reply.body);
  if (!object.has_value()) return tl::unexpected<Error>(object.error());
  return CreateResult{.object = std::move(*object), .created = created, .body = reply.body};
}

Result<CreateResult> adopt_existing(Api& api, const Target& target, const std::string& owner_uid, std::stop_token stop) {
  const Result<Reply> reply = expect_success(api.send(get_request(target), stop), "reading back " + describe(target));
  if (!reply.has_value()) return tl::unexpected<Error>(reply.error());
  Result<CreateResult> found = created_from(*reply, false);
  if (!found.has_value()) return found;
  const auto& owners = found->object.owner_uids;
  if (std::find(owners.begin(), owners.end(), owner_uid) != owners.end()) return found;
  return failure(ErrorCode::Conflict, fmt::format("{} exists already and was not made for this owner; delete or rename it", describe(target)));
}

}  // namespace

Result<CreateResult> create_owned(Api& api, const Target& collection, const std::string& name, const std::string& owner_uid, std::string body,
                                  const WriteOptions& options, std::stop_token stop) {
  Target target = collection;
  target.name = name;
  const Result<Reply> reply = api.send(create_request(collection, std::move(body), options), stop);
  if (!reply.has_value()) return tl::unexpected<Error>(reply.error());
  if (is_success(*reply)) return created_from(*reply, true);
  const ApiStatus status = decode_status(*reply);
  if (is_already_exists(status)) return adopt_existing(api, target, owner_uid, stop);
  return tl::unexpected<Error>(error_of(status, "creating " + describe(target)));
}

Result<Reply> apply_object(Api& api, const Target& target, std::string body, const WriteOptions& options, std::stop_token stop) {
  Result<Reply> reply = api.send(apply_request(target, std::move(body), options), stop);
  if (!reply.has_value() || is_success(*reply)) return reply;
  const ApiStatus status = decode_status(*reply);
  std::vector<std::string> conflicts;
  for (const FieldConflict& conflict : field_conflicts(status)) {
    conflicts.push_back(fmt::format("{} holds {}", escape_controls(conflict.manager), escape_controls(conflict.field)));
  }
  if (conflicts.empty()) return tl::unexpected<Error>(error_of(status, "applying " + describe(target)));
  return failure(ErrorCode::Conflict, fmt::format("applying {}: other field managers stand against it: {}", describe(target), join_some(conflicts, 3)));
}

Result<Reply> update_object(Api& api, const Target& target, const std::function<Result<std::string>(const std::string&)>& change,
                            const WriteOptions& options, Sleeper& sleeper, const std::function<double()>& jitter, std::stop_token stop) {
  const std::string doing = "updating " + describe(target);
  for (int conflicts = 0;; ++conflicts) {
    Result<Reply> current = expect_success(api.send(get_request(target), stop), doing);
    if (!current.has_value()) return current;
    Result<std::string> body = change(current->body);
    if (!body.has_value()) return tl::unexpected<Error>(context(doing)(body.error()));
    Result<Reply> reply = api.send(replace_request(target, std::move(*body), options), stop);
    const bool conflict = reply.has_value() && reply->status == 409;
    if (!conflict || conflicts >= kMostConflicts) return expect_success(std::move(reply), doing);
    const double base = 10.0 * static_cast<double>(1 << conflicts);
    const std::chrono::milliseconds wait(static_cast<std::chrono::milliseconds::rep>(base * (1.0 + jitter())));
    if (!sleeper.wait(wait, stop)) return failure(ErrorCode::Cancelled, doing + ": stopped");
  }
}

Result<DeleteEnd> delete_exactly(Api& api, const Target& target, const DeleteOptions& options, std::stop_token stop) {
  if (options.uid.empty()) broken_invariant("a delete without the UID of what is to be deleted");
  const std::string doing = "deleting " + describe(target);
  const Result<Reply> reply = api.send(delete_request(target, options), stop);
  if (!reply.has_value()) return tl::unexpected<Error>(reply.error());
  if (is_success(*reply)) return DeleteEnd::Deleted;
  if (reply->status == 404) return DeleteEnd::AlreadyGone;
  if (reply->status != 409) return tl::unexpected<Error>(error_of(decode_status(*reply), doing));
  const Result<Reply> current = api.send(get_request(target), stop);
  if (!current.has_value()) return tl::unexpected<Error>(current.error());
  if (current->status == 404) return DeleteEnd::AlreadyGone;
  if (!is_success(*current)) return tl::unexpected<Error>(error_of(decode_status(*current), doing));
  const auto now = decode_written(current->body);
  if (!now.has_value()) return tl::unexpected<Error>(context(doing)(now.error()));
  if (now->uid != options.uid) return DeleteEnd::AlreadyGone;  // another object has taken the name
  return tl::unexpected<Error>(error_of(decode_status(*reply), doing));
}

}  // namespace verl::kube
