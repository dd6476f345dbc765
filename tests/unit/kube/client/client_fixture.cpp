#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {

void Files::set(const std::string& path, std::string text, bool others_can_read) {
  const std::lock_guard lock(state_->mutex);
  state_->files[path] = FileText{.text = std::move(text), .others_can_read = others_can_read};
}

void Files::remove(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  state_->files.erase(path);
}

int Files::reads(const std::string& path) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->reads.find(path);
  return found == state_->reads.end() ? 0 : found->second;
}

ReadFile Files::reader() const {
  return [state = state_](const std::string& path) -> Result<FileText> {
    const std::lock_guard lock(state->mutex);
    ++state->reads[path];
    const auto found = state->files.find(path);
    if (found == state->files.end()) return failure(ErrorCode::NotFound, "file " + path + " cannot be read: No such file or directory");
    return found->second;
  };
}

Timestamp TestClock::now() const {
  const std::lock_guard lock(mutex_);
  return *parse_rfc3339("2026-03-01T12:00:00Z") + passed_;
}

std::chrono::steady_clock::time_point TestClock::steady() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::steady_clock::time_point(passed_);
}

void TestClock::advance(std::chrono::milliseconds by) {
  const std::lock_guard lock(mutex_);
  passed_ += by;
}

bool TestSleeper::wait(std::chrono::milliseconds time, std::stop_token stop) {
  clock_->advance(time);
  const std::lock_guard lock(mutex_);
  waits_.push_back(time);
  return !stop.stop_requested();
}

std::vector<std::chrono::milliseconds> TestSleeper::waits() const {
  const std::lock_guard lock(mutex_);
  return waits_;
}

TestClient::TestClient(const scripted::ScriptedServer& server) {
  const auto url = parse_server_url(server.url());
  EXPECT_TRUE(url.has_value());
  config = ClientConfig{.server = url.value_or(ServerUrl{}), .authority = {.text = server.ca().pem()}, .token = "secret-token-1", .origin = "test"};
  options.user_agent = user_agent("verl-operator", "0.1.0", "test");
  options.transport.connect_limit = Milliseconds(2000);
  const auto sink = [lines = said](const std::string& text) { lines->push_back(text); };
  options.warn = sink;
  options.debug = sink;
}

std::unique_ptr<HttpApi> TestClient::connect(std::unique_ptr<Credentials> credentials) {
  const ReadTls read_tls = [settings = config, read = files.reader()] { return read_tls_material(settings, read); };
  const auto material = read_tls();
  EXPECT_TRUE(material.has_value()) << (material.has_value() ? "" : material.error().message);
  auto transport = make_httplib_transport(config.server, material.value_or(TlsMaterial{}), options.transport);
  EXPECT_TRUE(transport.has_value()) << (transport.has_value() ? "" : transport.error().message);
  if (!transport.has_value()) return nullptr;
  if (credentials == nullptr) {
    credentials = make_token_credentials(TokenOptions{.token = config.token, .file = config.token_file, .warn = options.warn}, files.reader(), clock);
  }
  return std::make_unique<HttpApi>(config, options,
                                   ApiParts{.transport = std::move(*transport),
                                            .credentials = std::move(credentials),
                                            .read_tls = read_tls,
                                            .clock = clock,
                                            .sleeper = sleeper,
                                            .jitter = [] { return 0.0; }});
}

Request get(std::string path) { return Request{.path = std::move(path)}; }

void expect_error(const Result<Reply>& reply, ErrorCode code, const std::string& part_of_message) {
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, code) << reply.error().message;
  EXPECT_NE(reply.error().message.find(part_of_message), std::string::npos) << reply.error().message;
}

bool Recorder::on_reply(int code, std::optional<Seconds>, std::optional<Timestamp>) {
  status = code;
  return true;
}

bool Recorder::on_bytes(std::string_view bytes) {
  text += bytes;
  pieces.emplace_back(bytes);
  return pieces.size() < most_pieces;
}

}  // namespace verl::kube
