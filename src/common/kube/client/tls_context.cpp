#include "kube/client/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <vector>

#include "kube/client/resolve.h"

namespace verl::kube {
namespace {

struct Free {
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(X509_STORE* p) const { X509_STORE_free(p); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Store = std::unique_ptr<X509_STORE, Free>;

// All certificates of a PEM text; empty when there is none, or when a block of it is broken.
std::vector<Certificate> certificates_of(const std::string& pem) {
  const std::unique_ptr<BIO, Free> text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<Certificate> out;
  while (X509* one = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) out.emplace_back(one);
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!at_end) out.clear();
  return out;
}

// An encrypted key would make OpenSSL ask the terminal; we have nobody to ask.
int no_passphrase(char*, int, int, void*) { return -1; }

Trouble kind_of(int error) {
  switch (error) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return Trouble::WrongName;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return Trouble::Expired;
    default:
      return Trouble::UnknownAuthority;
  }
}

int verify(X509_STORE_CTX* context, void* argument) {
  auto& record = *static_cast<VerifyRecord*>(argument);
  if (X509_verify_cert(context) == 1) return 1;
  const int error = X509_STORE_CTX_get_error(context);
  record.trouble = kind_of(error);
  record.detail = X509_verify_cert_error_string(error);
  return 0;
}

// RFC 6066 allows names only, so for an address the library's server name is taken out again before the first message.
void forget_server_name(const SSL* ssl, int where, int) {
  if ((where & SSL_CB_HANDSHAKE_START) != 0) SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), nullptr);
}

}  // namespace

struct TlsIdentity::Parsed {
  Store store{};
  std::vector<Certificate> chain{};  // the client's own first
  Key key{};
};

TlsIdentity::TlsIdentity(TlsMaterial material) : material_(std::move(material)), parsed_(std::make_unique<Parsed>()) {}
TlsIdentity::~TlsIdentity() = default;

Result<std::shared_ptr<const TlsIdentity>> TlsIdentity::parse(const TlsMaterial& material) {
  if (material.insecure_skip_verify && !material.ca_pem.empty()) {
    return failure(ErrorCode::Invalid, "insecure-skip-tls-verify and a certificate authority exclude each other; remove one of them");
  }
  std::shared_ptr<TlsIdentity> identity(new TlsIdentity(material));
  Parsed& parsed = *identity->parsed_;
  parsed.store = Store(X509_STORE_new());
  if (!material.ca_pem.empty()) {
    const std::vector<Certificate> authorities = certificates_of(material.ca_pem);
    if (authorities.empty()) return failure(ErrorCode::Invalid, "the certificate authority holds no readable PEM certificate");
    for (const Certificate& one : authorities) X509_STORE_add_cert(parsed.store.get(), one.get());
  } else if (!material.insecure_skip_verify) {
    X509_STORE_set_default_paths(parsed.store.get());
  }
  ERR_clear_error();
  if (material.certificate_pem.empty() != material.key_pem.empty()) {
    return failure(ErrorCode::Invalid, material.key_pem.empty() ? "a client certificate is given without its key"
                                                                : "a client key is given without its certificate");
  }
  if (!material.certificate_pem.empty()) {
    parsed.chain = certificates_of(material.certificate_pem);
    if (parsed.chain.empty()) return failure(ErrorCode::Invalid, "the client certificate holds no readable PEM certificate");
    const std::unique_ptr<BIO, Free> text(BIO_new_mem_buf(material.key_pem.data(), static_cast<int>(material.key_pem.size())));
    parsed.key = Key(PEM_read_bio_PrivateKey(text.get(), nullptr, no_passphrase, nullptr));
    ERR_clear_error();
    if (parsed.key == nullptr) return failure(ErrorCode::Invalid, "the client key is no readable PEM key (encrypted keys are not supported)");
    if (X509_check_private_key(parsed.chain.front().get(), parsed.key.get()) != 1) {
      ERR_clear_error();
      return failure(ErrorCode::Invalid, "the client key does not belong to the client certificate");
    }
  }
  return std::shared_ptr<const TlsIdentity>(std::move(identity));
}

Result<bool> TlsIdentity::apply(ssl_ctx_st* context, const std::string& name, VerifyRecord& record) const {
  const Parsed& parsed = *parsed_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set1_cert_store(context, parsed.store.get());
  const bool address = is_address_literal(name);
  if (address) SSL_CTX_set_info_callback(context, forget_server_name);
  if (material_.insecure_skip_verify) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_cert_verify_callback(context, verify, &record);
    X509_VERIFY_PARAM* parameters = SSL_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int named = address ? X509_VERIFY_PARAM_set1_ip_asc(parameters, name.c_str())
                              : X509_VERIFY_PARAM_set1_host(parameters, name.c_str(), name.size());
    if (named != 1) return failure(ErrorCode::Invalid, "the server name " + name + " cannot be verified");
  }
  if (parsed.chain.empty()) return true;
  bool ok = SSL_CTX_use_certificate(context, parsed.chain.front().get()) == 1 && SSL_CTX_use_PrivateKey(context, parsed.key.get()) == 1;
  for (size_t i = 1; ok && i < parsed.chain.size(); ++i) ok = SSL_CTX_add1_chain_cert(context, parsed.chain[i].get()) == 1;
  ERR_clear_error();
  if (!ok) return failure(ErrorCode::Invalid, "OpenSSL refused the client certificate");
  return true;
}

}  // namespace verl::kube
