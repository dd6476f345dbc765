#include "kube/client/exec_credentials.h"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/text.h"
#include "kube/protocol/exec_credential.h"

namespace verl::kube {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

class ExecCredentials final : public Credentials {
 public:
  ExecCredentials(const ClientConfig& config, std::shared_ptr<Clock> clock, RunPlugin run)
      : config_(config), plugin_(*config.exec), clock_(std::move(clock)), run_(std::move(run)) {}

  Result<Grant> grant(std::chrono::milliseconds limit, std::stop_token stop) override;
  bool refused(const Grant& used, SteadyTime began) override;

 private:
  Result<ExecCredential> run_once(std::chrono::milliseconds limit, const std::stop_token& stop) const;

  const ClientConfig config_;
  const ExecPlugin plugin_;
  const std::shared_ptr<Clock> clock_;
  const RunPlugin run_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  bool running_{false};
  std::optional<ExecCredential> cached_{};
  SteadyTime made_at_{};
  std::size_t runs_{0};          // finished ones
  std::optional<Error> failed_{};  // of the last run
};

Grant grant_of(const ExecCredential& credential) {
  return Grant{.authorization = credential.token.empty() ? "" : "Bearer " + credential.token,
               .certificate_pem = credential.certificate_pem,
               .key_pem = credential.key_pem};
}

Result<ExecCredential> ExecCredentials::run_once(std::chrono::milliseconds limit, const std::stop_token& stop) const {
  const PluginCall call{.command = plugin_.command, .args = plugin_.args, .environment = plugin_environment(config_)};
  const Result<std::string> output = run_(call, limit, stop);
  if (output.has_value()) {
    auto credential = parse_exec_credential(*output, plugin_.api_version);
    if (!credential.has_value()) return tl::unexpected<Error>(context("credential plugin " + escape_controls(plugin_.command))(credential.error()));
    return credential;
  }
  Error error = output.error();
  if (error.code == ErrorCode::NotFound && !plugin_.install_hint.empty()) {
    error.message += ". " + escape_controls(shorten(plugin_.install_hint, 1000));
  }
  return tl::unexpected<Error>(context("credential plugin " + escape_controls(plugin_.command))(std::move(error)));
}

Result<Grant> ExecCredentials::grant(std::chrono::milliseconds limit, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (cached_.has_value() && is_usable(*cached_, clock_->now())) return grant_of(*cached_);
  if (running_) {
    const std::size_t before = runs_;
    if (!changed_.wait_for(lock, stop, limit, [&] { return runs_ != before; })) {
      if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
      return failure(ErrorCode::Timeout, "the credential plugin did not answer in time");
    }
    if (cached_.has_value()) return grant_of(*cached_);
    return tl::unexpected<Error>(*failed_);
  }
  running_ = true;
  lock.unlock();
  Result<ExecCredential> credential = run_once(limit, stop);
  lock.lock();
  running_ = false;
  ++runs_;
  cached_.reset();
  failed_.reset();
  if (credential.has_value()) {
    cached_ = *credential;
    made_at_ = clock_->steady();
  } else {
    failed_ = credential.error();
  }
  changed_.notify_all();
  if (!cached_.has_value()) return tl::unexpected<Error>(*failed_);
  return grant_of(*cached_);
}

bool ExecCredentials::refused(const Grant& used, SteadyTime began) {
  const std::lock_guard lock(mutex_);
  if (!cached_.has_value() || grant_of(*cached_).authorization != used.authorization) return true;  // rotated meanwhile
  if (made_at_ >= began) return false;  // made for this very request
  cached_.reset();
  return true;
}

}  // namespace

std::unique_ptr<Credentials> make_exec_credentials(const ClientConfig& config, std::shared_ptr<Clock> clock, RunPlugin run) {
  return std::make_unique<ExecCredentials>(config, std::move(clock), std::move(run));
}

std::unique_ptr<Credentials> make_exec_credentials(const ClientConfig& config, std::shared_ptr<Clock> clock) {
  return make_exec_credentials(config, std::move(clock), run_plugin);
}

}  // namespace verl::kube
