#include "base/result.h"

#include "base/broken_invariant.h"

namespace verl {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::Unknown: return "Unknown";
    case ErrorCode::Invalid: return "Invalid";
    case ErrorCode::NotFound: return "NotFound";
    case ErrorCode::Denied: return "Denied";
    case ErrorCode::Conflict: return "Conflict";
    case ErrorCode::Unavailable: return "Unavailable";
    case ErrorCode::Timeout: return "Timeout";
    case ErrorCode::TooLarge: return "TooLarge";
    case ErrorCode::Cancelled: return "Cancelled";
  }
  broken_invariant("an ErrorCode outside its enumeration");
}

}  // namespace verl
