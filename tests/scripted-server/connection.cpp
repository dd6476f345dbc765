#include "tests/scripted-server/connection.h"

#include <fmt/format.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/text.h"
#include "tests/scripted-server/live_body.h"

namespace verl::scripted {
namespace {

constexpr int kTick = 10;  // milliseconds between looks at the stop flag

std::string decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      int value = 0;
      const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
      if (error == std::errc{} && end == text.data() + i + 3) {
        out += static_cast<char>(value);
        i += 2;
        continue;
      }
    }
    out += text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

void read_target(Seen& seen) {
  const size_t mark = seen.target.find('?');
  seen.path = seen.target.substr(0, mark);
  if (mark == std::string::npos) return;
  for (const std::string_view pair : split(std::string_view(seen.target).substr(mark + 1), '&')) {
    const size_t equals = pair.find('=');
    seen.query.emplace_back(decoded(pair.substr(0, equals)), equals == std::string_view::npos ? "" : decoded(pair.substr(equals + 1)));
  }
}

std::string common_name(X509* certificate) {
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  return name;
}

}  // namespace

Connection::~Connection() {
  if (ssl_ != nullptr) SSL_free(ssl_);
  close(socket_);
}

bool Connection::readable(int milliseconds) const {
  if (ssl_ != nullptr && SSL_pending(ssl_) > 0) return true;
  pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

bool Connection::pause(Milliseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
    if (stop_) return false;
    const auto left = std::chrono::duration_cast<Milliseconds>(until - std::chrono::steady_clock::now());
    std::this_thread::sleep_for(std::clamp(left, Milliseconds(1), Milliseconds(kTick)));
  }
  return !stop_;
}

bool Connection::handshake(SSL_CTX* context) {
  ssl_ = SSL_new(context);
  SSL_set_fd(ssl_, socket_);
  while (!readable(kTick)) {
    if (stop_) return false;
  }
  return SSL_accept(ssl_) == 1;
}

bool Connection::read_more() {
  while (!readable(kTick)) {
    if (stop_) return false;
  }
  char bytes[16384];
  const int count = SSL_read(ssl_, bytes, sizeof bytes);
  if (count <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

std::optional<Seen> Connection::read_request() {
  size_t head_end = std::string::npos;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  Seen seen{.connection = number_};
  const std::string head = buffer_.substr(0, head_end);
  buffer_.erase(0, head_end + 4);
  size_t length = 0;
  bool first = true;
  for (const std::string_view line : split(head, '\n')) {
    const std::string_view text = trim(line);
    if (first) {
      const auto words = split_whitespace(text);
      if (words.size() != 3) return std::nullopt;
      seen.method = words[0];
      seen.target = words[1];
      first = false;
      continue;
    }
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    seen.headers.emplace_back(lower(text.substr(0, colon)), std::string(trim(text.substr(colon + 1))));
    if (seen.headers.back().first == "content-length") length = parse_int<size_t>(seen.headers.back().second).value_or(0);
  }
  while (buffer_.size() < length) {
    if (!read_more()) return std::nullopt;
  }
  seen.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  read_target(seen);
  if (X509* certificate = SSL_get0_peer_certificate(ssl_)) seen.client_name = common_name(certificate);
  if (const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name)) seen.sni = name;
  return seen;
}

bool Connection::send(std::string_view bytes) {
  if (bytes.empty()) return true;
  return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size());
}

bool Connection::finish(End end) {
  switch (end) {
    case End::KeepAlive:
      return true;
    case End::Close:
      SSL_shutdown(ssl_);
      shutdown(socket_, SHUT_WR);
      return false;
    case End::CloseWithoutNotify:
      shutdown(socket_, SHUT_WR);
      return false;
    case End::Reset: {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      return false;
    }
    case End::Hang:
      wait_client_gone();
      return false;
  }
  return false;
}

bool Connection::wait_client_gone() {
  while (!stop_) {
    if (!readable(kTick)) continue;
    char byte = 0;
    if (ssl_ == nullptr) {
      if (recv(socket_, &byte, 1, 0) <= 0) return true;
    } else if (SSL_read(ssl_, &byte, 1) <= 0) {
      return true;
    }
  }
  return false;
}

bool Connection::write_live(LiveBody& live, bool chunked) {
  LiveBody::State& state = live.state();
  std::unique_lock lock(state.mutex);
  state.opened = true;
  state.changed.notify_all();
  while (!stop_) {
    if (!state.pieces.empty()) {
      const std::string piece = std::move(state.pieces.front());
      state.pieces.pop_front();
      lock.unlock();
      const bool sent = send(chunked ? fmt::format("{:x}\r\n{}\r\n", piece.size(), piece) : piece);
      lock.lock();
      if (!sent) break;
      continue;
    }
    if (state.end.has_value()) {
      const End end = *state.end;
      lock.unlock();
      if (chunked && (end == End::KeepAlive || end == End::Close)) send("0\r\n\r\n");
      const bool open = finish(end);
      if (end == End::Hang) {
        lock.lock();
        break;
      }
      return open;
    }
    state.changed.wait_for(lock, Milliseconds(kTick));
    lock.unlock();
    const bool gone = readable(0);  // a client sends nothing during an answer: this is its FIN or close_notify
    lock.lock();
    if (gone) break;
  }
  state.client_gone = true;
  state.changed.notify_all();
  return false;
}

bool Connection::write(const Answer& answer, bool head_only) {
  if (!pause(answer.before_head)) return false;
  if (!answer.raw.empty()) return send(answer.raw) && finish(answer.end);
  if (answer.status == 0) return finish(answer.end);
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, answer.status < 400 ? "OK" : "Error");
  for (const auto& header : answer.headers) head += header.first + ": " + header.second + "\r\n";
  size_t length = 0;
  for (const Piece& piece : answer.pieces) length += piece.bytes.size();
  switch (answer.framing) {
    case Framing::ContentLength:
      head += fmt::format("Content-Length: {}\r\n", answer.declared_length.value_or(length));
      break;
    case Framing::Chunked:
      head += "Transfer-Encoding: chunked\r\n";
      break;
    case Framing::UntilClose:
      break;
  }
  if (!send(head + "\r\n")) return false;
  if (head_only) return finish(answer.end);
  const bool chunked = answer.framing == Framing::Chunked;
  for (const Piece& piece : answer.pieces) {
    if (!pause(piece.after)) return false;
    if (!send(chunked ? fmt::format("{:x}\r\n{}\r\n", piece.bytes.size(), piece.bytes) : piece.bytes)) return false;
  }
  if (answer.live) return write_live(*answer.live, chunked);
  if (chunked && answer.last_chunk) send("0\r\n\r\n");
  return finish(answer.end);
}

}  // namespace verl::scripted
