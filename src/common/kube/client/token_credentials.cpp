#include "kube/client/token_credentials.h"

#include <mutex>

#include "base/text.h"

namespace verl::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

class FixedToken final : public Credentials {
 public:
  explicit FixedToken(const std::string& token) : authorization_(token.empty() ? "" : "Bearer " + token) {}
  Result<Grant> grant(std::chrono::milliseconds, std::stop_token) override { return Grant{.authorization = authorization_}; }
  bool refused(const Grant&, SteadyTime) override { return false; }

 private:
  const std::string authorization_;
};

class TokenFile final : public Credentials {
 public:
  TokenFile(TokenOptions options, ReadFile read, std::shared_ptr<Clock> clock)
      : options_(std::move(options)), read_(std::move(read)), clock_(std::move(clock)), token_(options_.token) {}

  Result<Grant> grant(std::chrono::milliseconds, std::stop_token) override {
    const std::lock_guard lock(mutex_);
    const SteadyTime now = clock_->steady();
    // Ten seconds early, so that no request starts with a token older than the period.
    const auto period = options_.reread_period - std::min(Seconds(10), options_.reread_period / 6);
    if (!ever_tried_ || must_read_ || now - tried_at_ >= period) {
      if (Result<bool> read = reread(now); !read.has_value()) return tl::unexpected<Error>(read.error());
    }
    return Grant{.authorization = "Bearer " + token_};
  }

  bool refused(const Grant& used, SteadyTime began) override {
    const std::lock_guard lock(mutex_);
    if (used.authorization != "Bearer " + token_) return true;  // replaced meanwhile
    if (read_at_ >= began) return false;                        // read after the request began: it is as fresh as can be
    must_read_ = true;
    return true;
  }

 private:
  Result<bool> reread(SteadyTime now) {
    ever_tried_ = true;
    must_read_ = false;
    tried_at_ = now;
    const Result<FileText> file = read_(options_.file);
    const std::string token(file.has_value() ? trim(file->text) : std::string_view{});
    if (!token.empty()) {
      token_ = token;
      read_at_ = now;
      warned_ = false;
      return true;
    }
    const std::string why = file.has_value() ? "the token file " + options_.file + " is empty" : file.error().message;
    if (token_.empty()) return failure(file.has_value() ? ErrorCode::Denied : file.error().code, why);
    if (!warned_ && options_.warn) options_.warn("the token could not be read again, the one read before stays in use: " + why);
    warned_ = true;
    return true;
  }

  const TokenOptions options_;
  const ReadFile read_;
  const std::shared_ptr<Clock> clock_;
  std::mutex mutex_{};
  std::string token_;
  SteadyTime tried_at_{};
  SteadyTime read_at_{};
  bool ever_tried_{false};
  bool must_read_{false};
  bool warned_{false};
};

}  // namespace

std::unique_ptr<Credentials> make_token_credentials(TokenOptions options, ReadFile read, std::shared_ptr<Clock> clock) {
  if (options.file.empty()) return std::make_unique<FixedToken>(options.token);
  return std::make_unique<TokenFile>(std::move(options), std::move(read), std::move(clock));
}

}  // namespace verl::kube
