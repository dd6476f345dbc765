// Writes that are safe to repeat: what their refusals mean, and the reading back that a refusal asks for.
// A write whose answer was lost is an Error here; the next round reads back by name.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "kube/client/sleeper.h"
#include "kube/protocol/http.h"
#include "kube/protocol/owner.h"
#include "kube/protocol/verbs.h"

namespace verl::kube {

struct CreateResult {
  WrittenObject object{};
  bool created{false};  // false: it was there, made for the same owner
  std::string body{};   // as the server answered
};

// `collection` has no name; `name` and `owner_uid` are those in the body. An object of that name with another owner is a Conflict that
// will not pass by waiting.
Result<CreateResult> create_owned(Api& api, const Target& collection, const std::string& name, const std::string& owner_uid, std::string body,
                                  const WriteOptions& options, std::stop_token stop);

// Server-side apply. A Conflict names the managers and fields that stand against it.
Result<Reply> apply_object(Api& api, const Target& target, std::string body, const WriteOptions& options, std::stop_token stop);

// Reads, lets `change` compute the new body out of the current one, writes; begins anew when somebody else was faster, at most five times.
// `change` gets the object's JSON and returns JSON that keeps metadata.resourceVersion.
Result<Reply> update_object(Api& api, const Target& target, const std::function<Result<std::string>(const std::string&)>& change,
                            const WriteOptions& options, Sleeper& sleeper, const std::function<double()>& jitter, std::stop_token stop);

enum class DeleteEnd { Deleted, AlreadyGone };

// Needs the UID. Gone, or replaced by another object of that name, is success; the same object at a newer version is a Conflict.
Result<DeleteEnd> delete_exactly(Api& api, const Target& target, const DeleteOptions& options, std::stop_token stop);

}  // namespace verl::kube
