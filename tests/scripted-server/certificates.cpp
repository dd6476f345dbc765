#include "tests/scripted-server/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>

#include "base/broken_invariant.h"

namespace verl::scripted {
namespace {

struct Free {
  void operator()(X509* p) const { X509_free(p); }
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(BIO* p) const { BIO_free_all(p); }
  void operator()(X509_EXTENSION* p) const { X509_EXTENSION_free(p); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;
using Buffer = std::unique_ptr<BIO, Free>;

void require(bool ok, std::string_view what) {
  if (!ok) broken_invariant(what);
}

std::string text_of(const Buffer& buffer) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(buffer.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

std::string pem_of(X509* certificate) {
  const Buffer buffer(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_X509(buffer.get(), certificate) == 1, "a test certificate could not be written as PEM");
  return text_of(buffer);
}

std::string pem_of(EVP_PKEY* key) {
  const Buffer buffer(BIO_new(BIO_s_mem()));
  require(PEM_write_bio_PrivateKey(buffer.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "a test key could not be written as PEM");
  return text_of(buffer);
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  require(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(value.data()),
                                     static_cast<int>(value.size()), -1, 0) == 1,
          "a test certificate's name was refused");
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, Free> extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  require(extension != nullptr, "a test certificate's extension was refused");
  require(X509_add_ext(certificate, extension.get(), -1) == 1, "a test certificate's extension was not added");
}

Certificate unsigned_certificate(EVP_PKEY* key, std::chrono::seconds from, std::chrono::seconds until) {
  static std::atomic<long> serial{1};
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), static_cast<long>(from.count()));
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(until.count()));
  X509_set_pubkey(certificate.get(), key);
  return certificate;
}

}  // namespace

struct CertificateAuthority::State {
  Key key{};
  Certificate certificate{};
};

CertificateAuthority::CertificateAuthority(const std::string& common_name) : state_(std::make_unique<State>()) {
  state_->key = Key(EVP_EC_gen("P-256"));
  state_->certificate = unsigned_certificate(state_->key.get(), std::chrono::hours(-24), std::chrono::hours(48));
  X509* certificate = state_->certificate.get();
  add_name(X509_get_subject_name(certificate), "CN", common_name);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  require(X509_sign(certificate, state_->key.get(), EVP_sha256()) != 0, "the test CA could not sign itself");
}

CertificateAuthority::~CertificateAuthority() = default;
CertificateAuthority::CertificateAuthority(CertificateAuthority&&) noexcept = default;
CertificateAuthority& CertificateAuthority::operator=(CertificateAuthority&&) noexcept = default;

std::string CertificateAuthority::pem() const { return pem_of(state_->certificate.get()); }

Identity CertificateAuthority::issue(const CertificateRequest& request) const {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate = unsigned_certificate(key.get(), request.valid_from, request.valid_until);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organization : request.organizations) add_name(subject, "O", organization);
  add_name(subject, "CN", request.common_name);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(state_->certificate.get()));
  std::string names;
  for (const std::string& name : request.dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  for (const std::string& address : request.ip_addresses) names += (names.empty() ? "IP:" : ",IP:") + address;
  if (!names.empty()) add_extension(certificate.get(), state_->certificate.get(), NID_subject_alt_name, names);
  add_extension(certificate.get(), state_->certificate.get(), NID_ext_key_usage, "serverAuth,clientAuth");
  require(X509_sign(certificate.get(), state_->key.get(), EVP_sha256()) != 0, "the test CA could not sign");
  return Identity{.certificate_pem = pem_of(certificate.get()), .key_pem = pem_of(key.get())};
}

}  // namespace verl::scripted
