#include "kube/client/response_sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "kube/protocol/retry.h"

namespace verl::kube {
namespace {

// An error's body is a Status: its causes may need some kilobytes, ten megabytes are none of our business. Of a longer one the
// beginning is kept for the message.
constexpr Bytes kErrorBody{64 * 1024};
constexpr size_t kErrorText = 2048;

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

}  // namespace

std::string_view header_value(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (same_name(header.name, name)) return header.value;
  }
  return {};
}

ReplyHead read_head(int status, const std::vector<Header>& headers) {
  ReplyHead head{.status = status, .date = parse_http_date(header_value(headers, "Date"))};
  head.retry_after = parse_retry_after(header_value(headers, "Retry-After"), head.date);
  return head;
}

std::vector<std::string> warning_texts(const std::vector<Header>& headers) {
  std::vector<std::string> out;
  for (const Header& header : headers) {
    if (!same_name(header.name, "Warning")) continue;
    const size_t first = header.value.find('"');
    const size_t last = header.value.rfind('"');
    if (first == std::string::npos || last <= first) continue;
    std::string text;
    for (size_t i = first + 1; i < last; ++i) {
      if (header.value[i] == '\\' && i + 1 < last) ++i;
      text += header.value[i];
    }
    out.push_back(escape_controls(shorten(text, 1024)));
  }
  return out;
}

bool ReplySink::on_head(int status, const std::vector<Header>& headers) {
  head_ = read_head(status, headers);
  headers_ = headers;
  const Bytes most = status >= 400 ? std::min(max_body_, kErrorBody) : max_body_;
  const std::string_view encoding = header_value(headers, "Content-Encoding");
  if (encoding == "gzip") {
    gzip_ = std::make_unique<GzipReader>(most);
  } else if (!encoding.empty() && encoding != "identity") {
    error_ = Error{.code = ErrorCode::Unavailable, .message = "the answer is encoded in a way we did not ask for"};
    return false;
  }
  max_body_ = most;
  return true;
}

bool ReplySink::take(std::string_view plain) {
  const size_t most = static_cast<size_t>(max_body_.count);
  if (body_.size() + plain.size() <= most) {
    body_ += plain;
    return true;
  }
  if (head_.status >= 400) {
    body_ += plain.substr(0, most - body_.size());
    body_ = shorten(body_, kErrorText);
    cut_error_body_ = true;
    return false;
  }
  error_ = Error{.code = ErrorCode::TooLarge, .message = fmt::format("the answer is larger than its limit of {} bytes", most)};
  return false;
}

bool ReplySink::on_bytes(std::string_view bytes) {
  if (gzip_ == nullptr) return take(bytes);
  const Result<bool> unpacked = gzip_->add(bytes, body_);
  if (unpacked.has_value()) return true;
  if (head_.status >= 400 && unpacked.error().code == ErrorCode::TooLarge) {
    body_ = shorten(body_, kErrorText);
    cut_error_body_ = true;
    return false;
  }
  error_ = unpacked.error();
  return false;
}

Result<Reply> ReplySink::finish() {
  if (error_.has_value()) return tl::unexpected<Error>(*error_);
  if (gzip_ != nullptr && !cut_error_body_ && !gzip_->complete()) {
    return failure(ErrorCode::Unavailable, "the gzip answer ends too early");
  }
  return Reply{.status = head_.status, .body = std::move(body_), .retry_after = head_.retry_after, .date = head_.date};
}

}  // namespace verl::kube
