#include "tests/scripted-server/scripted_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <list>
#include <thread>

#include "base/broken_invariant.h"
#include "tests/scripted-server/connection.h"
#include "tests/scripted-server/script.h"

namespace verl::scripted {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* p) const { SSL_CTX_free(p); }
};
using Context = std::shared_ptr<SSL_CTX>;

int accept_any(int, X509_STORE_CTX*) { return 1; }

Context context_of(const Identity& identity) {
  Context context(SSL_CTX_new(TLS_server_method()), FreeContext{});
  const auto bio = [](const std::string& text) { return BIO_new_mem_buf(text.data(), static_cast<int>(text.size())); };
  BIO* certificate_text = bio(identity.certificate_pem);
  BIO* key_text = bio(identity.key_pem);
  X509* certificate = PEM_read_bio_X509(certificate_text, nullptr, nullptr, nullptr);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  if (SSL_CTX_use_certificate(context.get(), certificate) != 1 || SSL_CTX_use_PrivateKey(context.get(), key) != 1) {
    broken_invariant("the scripted server's certificate does not load");
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  BIO_free(certificate_text);
  BIO_free(key_text);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, accept_any);  // asks for a client certificate, takes any or none
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

// Port 0 takes a free one and returns it; -1 when the address cannot be had.
int listen_on(const std::string& address, int& port) {
  const bool six = address.find(':') != std::string::npos;
  const int listener = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_storage name{};
  socklen_t size = six ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (six) {
    auto& to = reinterpret_cast<sockaddr_in6&>(name);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET6, address.c_str(), &to.sin6_addr);
  } else {
    auto& to = reinterpret_cast<sockaddr_in&>(name);
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  }
  if (bind(listener, reinterpret_cast<sockaddr*>(&name), size) != 0 || listen(listener, 128) != 0) {
    close(listener);
    return -1;
  }
  getsockname(listener, reinterpret_cast<sockaddr*>(&name), &size);
  port = ntohs(six ? reinterpret_cast<sockaddr_in6&>(name).sin6_port : reinterpret_cast<sockaddr_in&>(name).sin_port);
  return listener;
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  return out;
}

}  // namespace

struct ScriptedServer::State {
  ServerOptions options{};
  CertificateAuthority ca{};
  Script script{};
  int port{0};
  int listener{-1};
  std::atomic<bool> stop{false};
  std::thread acceptor{};
  mutable std::mutex mutex{};
  mutable std::condition_variable changed{};
  Context context{};
  std::list<std::thread> threads{};
  std::size_t accepted{0};
  std::size_t open{0};

  void listen_again();
  void accept_loop();
  void serve(int socket, int number);
  void serve_requests(Connection& connection);
};

void ScriptedServer::State::listen_again() {
  listener = listen_on(options.address, port);
  if (listener < 0) broken_invariant("the scripted server cannot listen on " + options.address);
  stop = false;
  acceptor = std::thread([this] { accept_loop(); });
}

void ScriptedServer::State::accept_loop() {
  while (!stop) {
    pollfd wanted{.fd = listener, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, 10) <= 0) continue;
    const int socket = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    const std::lock_guard lock(mutex);
    const int number = static_cast<int>(++accepted);
    ++open;
    changed.notify_all();
    threads.emplace_back([this, socket, number] { serve(socket, number); });
  }
}

void ScriptedServer::State::serve(int socket, int number) {
  {
    Connection connection(socket, number, stop);
    if (options.never_handshake) {
      connection.wait_client_gone();
    } else {
      Context mine;
      {
        const std::lock_guard lock(mutex);
        mine = context;
      }
      if (connection.handshake(mine.get())) serve_requests(connection);
      ERR_clear_error();
    }
  }
  const std::lock_guard lock(mutex);
  --open;
  changed.notify_all();
}

void ScriptedServer::State::serve_requests(Connection& connection) {
  while (!stop) {
    const std::optional<Seen> seen = connection.read_request();
    if (!seen.has_value()) return;
    std::optional<Answer> answer = script.answer(*seen);
    {
      const std::lock_guard lock(mutex);
      changed.notify_all();
    }
    if (!answer.has_value()) {
      if (!options.unscripted_is_404) ADD_FAILURE() << "the script has no answer for " << describe(*seen);
      answer = json(404, R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404})");
    }
    if (!connection.write(*answer, seen->method == "HEAD" || answer->status == 204)) return;
  }
}

ScriptedServer::ScriptedServer(ServerOptions options) : state_(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);
  state_->options = std::move(options);
  state_->context = context_of(state_->ca.issue(CertificateRequest{.common_name = "apiserver",
                                                                   .dns_names = state_->options.dns_names,
                                                                   .ip_addresses = state_->options.ip_addresses,
                                                                   .valid_from = state_->options.valid_from,
                                                                   .valid_until = state_->options.valid_until}));
  state_->listen_again();
}

ScriptedServer::~ScriptedServer() {
  stop();
  if (state_->options.unused_is_fine) return;
  for (const std::string& line : state_->script.unused()) ADD_FAILURE() << "expected and never came: " << line;
}

void ScriptedServer::stop() {
  if (state_->listener < 0) return;
  state_->stop = true;
  state_->acceptor.join();
  close(state_->listener);
  state_->listener = -1;
  std::list<std::thread> threads;
  {
    const std::lock_guard lock(state_->mutex);
    threads.swap(state_->threads);
  }
  for (std::thread& thread : threads) thread.join();
}

void ScriptedServer::restart() { state_->listen_again(); }

ScriptedServer& ScriptedServer::expect(Expectation expectation) {
  state_->script.add(std::move(expectation));
  return *this;
}

int ScriptedServer::port() const { return state_->port; }

std::string ScriptedServer::url() const {
  const std::string& address = state_->options.address;
  return address.find(':') == std::string::npos ? fmt::format("https://{}:{}", address, state_->port)
                                                : fmt::format("https://[{}]:{}", address, state_->port);
}

const CertificateAuthority& ScriptedServer::ca() const { return state_->ca; }

std::string ScriptedServer::kubeconfig(std::string_view user_yaml) const {
  const std::string pem = state_->ca.pem();
  std::string encoded((pem.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                   reinterpret_cast<const unsigned char*>(pem.data()), static_cast<int>(pem.size()));
  encoded.resize(static_cast<size_t>(size));
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: scripted\n"
      "clusters:\n- name: scripted\n  cluster:\n    server: {}\n    certificate-authority-data: {}\n"
      "contexts:\n- name: scripted\n  context: {{cluster: scripted, user: tester}}\n"
      "users:\n- name: tester\n  user:\n{}\n",
      url(), encoded, indented(std::string(user_yaml), "    "));
}

std::vector<Seen> ScriptedServer::seen() const { return state_->script.seen(); }

bool ScriptedServer::wait_seen(std::size_t count, Milliseconds limit) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, limit, [&] { return state_->script.seen().size() >= count; });
}

std::size_t ScriptedServer::connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->accepted;
}

std::size_t ScriptedServer::open_connections() const {
  const std::lock_guard lock(state_->mutex);
  return state_->open;
}

void ScriptedServer::use_identity(const CertificateAuthority& ca, const CertificateRequest& request) {
  const std::lock_guard lock(state_->mutex);
  state_->context = context_of(ca.issue(request));
}

}  // namespace verl::scripted
