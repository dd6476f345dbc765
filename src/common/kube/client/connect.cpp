// Puts the client together from a configuration: the only place that knows all its pieces.
#include <mutex>
#include <random>

#include "kube/client/exec_credentials.h"
#include "kube/client/http_api.h"
#include "kube/client/read_file.h"
#include "kube/client/token_credentials.h"

namespace verl::kube {
namespace {

Result<std::string> pem_of(const PemSource& source, const ReadFile& read, const char* what) {
  if (!source.text.empty() || source.file.empty()) return source.text;
  Result<FileText> file = read(source.file);
  if (!file.has_value()) return tl::unexpected<Error>(context(what)(file.error()));
  return std::move(file->text);
}

}  // namespace

Result<TlsMaterial> read_tls_material(const ClientConfig& config, const ReadFile& read) {
  TlsMaterial out{.server_name = config.tls_server_name, .insecure_skip_verify = config.insecure_skip_verify};
  const auto load = [&](std::string& into, const PemSource& source, const char* what) -> Result<bool> {
    Result<std::string> pem = pem_of(source, read, what);
    if (!pem.has_value()) return tl::unexpected<Error>(pem.error());
    into = std::move(*pem);
    return true;
  };
  if (auto ok = load(out.ca_pem, config.authority, "certificate-authority"); !ok.has_value()) return tl::unexpected<Error>(ok.error());
  if (auto ok = load(out.certificate_pem, config.certificate, "client-certificate"); !ok.has_value()) return tl::unexpected<Error>(ok.error());
  if (auto ok = load(out.key_pem, config.key, "client-key"); !ok.has_value()) return tl::unexpected<Error>(ok.error());
  return out;
}

Result<std::unique_ptr<Api>> connect(const ClientConfig& config, const ApiOptions& options) {
  const ReadTls read_tls = [config] { return read_tls_material(config, read_local_file); };
  const Result<TlsMaterial> material = read_tls();
  if (!material.has_value()) return tl::unexpected<Error>(context(config.origin)(material.error()));
  auto transport = make_httplib_transport(config.server, *material, options.transport);
  if (!transport.has_value()) return tl::unexpected<Error>(context(config.origin)(transport.error()));
  ApiParts parts{.transport = std::move(*transport),
                 .read_tls = read_tls,
                 .clock = std::make_shared<SystemClock>(),
                 .sleeper = std::make_shared<SystemSleeper>()};
  parts.credentials = config.exec.has_value()
                          ? make_exec_credentials(config, parts.clock)
                          : make_token_credentials(TokenOptions{.token = config.token,
                                                                .file = config.token_file,
                                                                .reread_period = options.token_reread_period,
                                                                .warn = options.warn},
                                                   read_local_file, parts.clock);
  parts.jitter = [random = std::make_shared<std::minstd_rand>(std::random_device{}()), mutex = std::make_shared<std::mutex>()] {
    const std::lock_guard lock(*mutex);
    return std::uniform_real_distribution<double>(0.0, 1.0)(*random);
  };
  return std::unique_ptr<Api>(std::make_unique<HttpApi>(config, options, std::move(parts)));
}

}  // namespace verl::kube
