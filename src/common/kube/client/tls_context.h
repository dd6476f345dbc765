// CA, client certificate and verification for TLS connections, out of PEM text.
// Verification is done here and not by the HTTP library, which would trust the system's roots beside the cluster's CA, would fall back
// to common names, and would not say what was wrong.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "kube/client/transport.h"

struct ssl_ctx_st;

namespace verl::kube {

// What the verification of one connection found. Trouble::None until something was wrong.
struct VerifyRecord {
  Trouble trouble{Trouble::None};
  std::string detail{};
};

class TlsIdentity final {
 public:
  static Result<std::shared_ptr<const TlsIdentity>> parse(const TlsMaterial& material);
  ~TlsIdentity();
  TlsIdentity(const TlsIdentity&) = delete;
  TlsIdentity& operator=(const TlsIdentity&) = delete;

  // Sets trust, verification of `name` (a host name or an address literal) and client certificate. `record` must outlive the context.
  Result<bool> apply(ssl_ctx_st* context, const std::string& name, VerifyRecord& record) const;
  const TlsMaterial& material() const { return material_; }

 private:
  struct Parsed;
  explicit TlsIdentity(TlsMaterial material);
  TlsMaterial material_;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace verl::kube
