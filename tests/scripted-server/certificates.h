// Certificate authorities and certificates for tests, made at run time: nothing on disk can expire.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace verl::scripted {

struct Identity {
  std::string certificate_pem{};
  std::string key_pem{};
};

struct CertificateRequest {
  std::string common_name{"test"};
  std::vector<std::string> organizations{};   // groups, for client certificates
  std::vector<std::string> dns_names{};
  std::vector<std::string> ip_addresses{};    // "127.0.0.1", "::1"
  std::chrono::seconds valid_from{-3600};     // relative to now
  std::chrono::seconds valid_until{86400};
};

class CertificateAuthority final {
 public:
  explicit CertificateAuthority(const std::string& common_name = "test-ca");
  ~CertificateAuthority();
  CertificateAuthority(CertificateAuthority&&) noexcept;
  CertificateAuthority& operator=(CertificateAuthority&&) noexcept;

  std::string pem() const;
  Identity issue(const CertificateRequest& request) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace verl::scripted
