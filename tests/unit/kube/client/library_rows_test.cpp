// The traps of the HTTP library, each closed: shown on what the server sees.
#include <zlib.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "kube/client/gzip.h"
#include "kube/client/sigpipe.h"
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::json;
using scripted::ScriptedServer;
using std::chrono::milliseconds;

constexpr const char* kPods = "/api/v1/pods";

std::string packed(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  std::string in = text;
  std::string out(deflateBound(&stream, in.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Library, T1_SigpipeIsIgnored) {
  ignore_sigpipe();
  struct sigaction action {};
  sigaction(SIGPIPE, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_IGN);
}

TEST(Library, T3_AQuietStreamOutlivesTheLibrarysFiveSeconds) {
  // The library's limits are set from the request's, so a stream may be silent for as long as the caller allows.
  ScriptedServer server;
  const auto body = std::make_shared<scripted::LiveBody>();
  server.expect({.path = kPods, .answer = scripted::live_watch(body)});
  TestClient client(server);
  const auto api = client.connect();
  Recorder recorder;
  Result<bool> ended = false;
  std::thread watcher([&] { ended = api->stream(get(kPods), recorder, {}); });
  ASSERT_TRUE(body->wait_opened());
  std::this_thread::sleep_for(milliseconds(5500));
  body->push("late\n");
  body->end();
  watcher.join();
  ASSERT_TRUE(ended.has_value()) << ended.error().message;
  EXPECT_TRUE(*ended);
  EXPECT_EQ(recorder.text, "late\n");
}

TEST(Library, T4_CallsDoNotWaitForStreamsNorForEachOther) {
  ScriptedServer server;
  const auto body = std::make_shared<scripted::LiveBody>();
  server.expect({.path = "/watch", .answer = scripted::live_watch(body)});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  scripted::Answer slow = json(200, "{}");
  slow.before_head = milliseconds(200);
  server.expect({.path = "/slow", .answer = slow, .times = 16});
  TestClient client(server);
  const auto api = client.connect();
  std::stop_source stop;
  std::thread watcher([&] {
    Recorder recorder;
    static_cast<void>(api->stream(get("/watch"), recorder, stop.get_token()));
  });
  ASSERT_TRUE(body->wait_opened());
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> callers;
  for (int i = 0; i < 16; ++i) callers.emplace_back([&] { EXPECT_TRUE(api->send(get("/slow"), {}).has_value()); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << "16 calls of 200 ms each run side by side";
  EXPECT_LE(server.connections(), 17u) << "one stream and at most 16 calls";
  stop.request_stop();
  watcher.join();
}

TEST(Library, T4_NoMoreThanTheLimitOfConnectionsIsOpened) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 20});
  TestClient client(server);
  client.options.transport.most_connections = 2;
  const auto api = client.connect();
  std::vector<std::thread> callers;
  for (int i = 0; i < 20; ++i) callers.emplace_back([&] { EXPECT_TRUE(api->send(get(kPods), {}).has_value()); });
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(server.connections(), 2u);
}

TEST(Library, T5_T6_OneConnectionServesManyWritesWithoutDelay) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kPods, .answer = json(201, "{}"), .times = 50});
  TestClient client(server);
  const auto api = client.connect();
  const std::string body = "{\"a\":\"" + std::string(6000, 'x') + "\"}";
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(api->send(Request{.method = Method::Post, .path = kPods, .body = body}, {})->status, 201);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << "delayed acknowledgements alone would take 2.2 s";
  EXPECT_EQ(server.connections(), 1u);
  EXPECT_NE(server.seen().at(0).header("connection"), "close");
}

TEST(Library, T10_ASinkThatEndsTheStreamLeavesTheClientUsable) {
  ScriptedServer server;
  server.expect({.path = "/watch", .answer = scripted::watch_of({"one", "two", "three"}), .times = 3});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  const auto api = client.connect();
  for (int i = 0; i < 3; ++i) {
    Recorder recorder;
    recorder.most_pieces = 1;
    const auto ended = api->stream(get("/watch"), recorder, {});
    ASSERT_TRUE(ended.has_value());
    EXPECT_FALSE(*ended);
    EXPECT_EQ(recorder.text, "one\n");
  }
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
}

TEST(Library, T11_AnEndlessHeaderIsAnErrorAndEnds) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kPods, .answer = {.end = scripted::End::Close, .raw = "HTTP/1.1 200 OK\r\nX-Long: " + std::string(20000, 'x') + "\r\n\r\n"}});
  TestClient client(server);
  const auto reply = client.connect()->send(Request{.method = Method::Post, .path = kPods, .body = "{}"}, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
}

TEST(Library, T12_AStreamDeliversWhatCameAsItCame) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = scripted::watch_of({"{\"a\":1}", "{\"b\":2}"})});
  TestClient client(server);
  Recorder recorder;
  const auto ended = client.connect()->stream(get(kPods), recorder, {});
  ASSERT_TRUE(ended.has_value()) << ended.error().message;
  EXPECT_TRUE(*ended);
  EXPECT_EQ(recorder.status, 200);
  EXPECT_EQ(recorder.pieces, (std::vector<std::string>{"{\"a\":1}\n", "{\"b\":2}\n"}));
  EXPECT_EQ(server.seen().at(0).header("accept-encoding"), "identity");
}

TEST(Library, T12_ARefusedStreamGivesItsStatusAndBody) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(410, R"({"kind":"Status","reason":"Expired"})")});
  TestClient client(server);
  Recorder recorder;
  const auto ended = client.connect()->stream(get(kPods), recorder, {});
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(recorder.status, 410);
  EXPECT_EQ(recorder.text, R"({"kind":"Status","reason":"Expired"})");
}

TEST(Library, AStreamWhoseConnectionIsLostSaysSo) {
  for (const scripted::End end : {scripted::End::Reset, scripted::End::Close, scripted::End::CloseWithoutNotify}) {
    ScriptedServer server;
    scripted::Answer broken = scripted::watch_of({"one", "two"}, end);
    broken.last_chunk = false;
    server.expect({.path = kPods, .answer = broken});
    TestClient client(server);
    Recorder recorder;
    const auto ended = client.connect()->stream(get(kPods), recorder, {});
    ASSERT_FALSE(ended.has_value());
    EXPECT_EQ(ended.error().code, ErrorCode::Unavailable);
    if (end != scripted::End::Reset) {
      EXPECT_EQ(recorder.text, "one\ntwo\n");
    }
  }
}

TEST(Library, A204HasNoBody) {
  ScriptedServer server;
  server.expect({.method = "DELETE", .path = kPods, .answer = {.status = 204}});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  const auto api = client.connect();
  EXPECT_EQ(api->send(Request{.method = Method::Delete, .path = kPods}, {})->status, 204);
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
}

TEST(Library, T13_EveryFileThatIncludesTheLibraryChecksTheMacrosItsLayoutDependsOn) {
  const char* source = std::getenv("VERL_SOURCE");
  const std::filesystem::path root = source == nullptr ? "." : source;
  std::set<std::string> including;
  for (const char* folder : {"src", "operator", "node-agent", "kubectl-verl", "bench"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (text.find("#include <httplib.h>") == std::string::npos) continue;
      including.insert(entry.path().filename());
      for (const char* macro : {"CPPHTTPLIB_OPENSSL_SUPPORT", "CPPHTTPLIB_ZLIB_SUPPORT", "CPPHTTPLIB_BROTLI_SUPPORT", "#error"}) {
        EXPECT_NE(text.find(macro), std::string::npos) << entry.path() << " does not check " << macro;
      }
    }
  }
  EXPECT_EQ(including, (std::set<std::string>{"http_server.cpp", "httplib_transport.cpp"}));
}

TEST(Library, R19_ACompressedAnswerIsUnpacked) {
  const std::string text = "{\"items\":[" + std::string(300000, '1') + "]}";
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, packed(text), {{"Content-Encoding", "gzip"}})});
  TestClient client(server);
  const auto reply = client.connect()->send(get(kPods), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->body, text);
  EXPECT_EQ(server.seen().at(0).header("accept-encoding"), "gzip");
}

TEST(Library, R19_CompressionIsNotOfferedWhereItIsSwitchedOff) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  client.config.disable_compression = true;
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 200);
  EXPECT_EQ(server.seen().at(0).header("accept-encoding"), "identity");
}

TEST(Library, R19_ABombIsRefusedByRatioAndBySize) {
  const std::string bomb = packed(std::string(8 * 1024 * 1024, 'x'));
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, bomb, {{"Content-Encoding", "gzip"}}), .times = 2});
  TestClient client(server);
  const auto api = client.connect();
  for (const Bytes most : {Bytes{64 * kMiB.count}, Bytes{1000}}) {
    Request request = get(kPods);
    request.max_body = most;
    const auto reply = api->send(request, {});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::TooLarge);
  }
}

TEST(Library, R19_BrokenOrShortenedCompressionIsNoAnswer) {
  const std::string whole = packed(R"({"items":[]})");
  for (const std::string& bytes : {whole.substr(0, whole.size() - 4), std::string("no gzip"), whole + "x"}) {
    ScriptedServer server;
    server.expect({.path = kPods, .answer = json(200, bytes, {{"Content-Encoding", "gzip"}})});
    TestClient client(server);
    const auto reply = client.connect()->send(get(kPods), {});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
  }
}

}  // namespace
}  // namespace verl::kube
