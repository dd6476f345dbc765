// Result<T>: a value, or an Error that says what could not be done or could not be known.
// A sick node is a Finding and a waiting job a Condition; neither is an Error.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace verl {

enum class ErrorCode {
  Unknown,      // none of the others fits
  Invalid,      // what we were given cannot be right: retrying the same input is useless
  NotFound,     // the thing does not exist
  Denied,       // not allowed: permissions, authentication
  Conflict,     // somebody else changed it first
  Unavailable,  // may work later: refused connection, broken pipe, server error
  Timeout,      // a deadline passed
  TooLarge,     // a size limit was hit; nothing of the body is used
  Cancelled,    // we were asked to stop
};

struct Error {
  ErrorCode code{ErrorCode::Unknown};
  std::string message{};  // one sentence for people; no secrets
  bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
};

// What to return when something failed: `return failure(ErrorCode::Invalid, "port 0 ...");`
inline tl::unexpected<Error> failure(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{.code = code, .message = std::move(message)});
}

// For map_error on the way up: prefixes "<doing>: ", keeps the code.
inline auto context(std::string doing) {
  return [doing = std::move(doing)](Error error) {
    error.message.insert(0, doing + ": ");
    return error;
  };
}

std::string_view to_string(ErrorCode code);

}  // namespace verl
