// Collects one answer within its limits: unpacks gzip, keeps an error's text short, reads the headers we use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client/gzip.h"
#include "kube/client/transport.h"
#include "kube/protocol/http.h"

namespace verl::kube {

// The value of the first header of that name (case does not matter), or "".
std::string_view header_value(const std::vector<Header>& headers, std::string_view name);

struct ReplyHead {
  int status{0};
  std::optional<Seconds> retry_after{};
  std::optional<Timestamp> date{};
};
ReplyHead read_head(int status, const std::vector<Header>& headers);

// The texts of `Warning: 299 - "text"` headers.
std::vector<std::string> warning_texts(const std::vector<Header>& headers);

class ReplySink final : public ExchangeSink {
 public:
  explicit ReplySink(Bytes max_body) : max_body_(max_body) {}

  bool on_head(int status, const std::vector<Header>& headers) override;
  bool on_bytes(std::string_view bytes) override;

  // After the exchange: why the sink ended it, or what the whole answer turned out to be.
  Result<Reply> finish();
  bool ended_early() const { return error_.has_value() || cut_error_body_; }
  const std::vector<Header>& headers() const { return headers_; }
  const ReplyHead& head() const { return head_; }

 private:
  bool take(std::string_view plain);
  Bytes max_body_;
  ReplyHead head_{};
  std::vector<Header> headers_{};
  std::unique_ptr<GzipReader> gzip_{};
  std::string body_{};
  std::optional<Error> error_{};
  bool cut_error_body_{false};
};

}  // namespace verl::kube
