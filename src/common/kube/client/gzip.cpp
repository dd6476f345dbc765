#include "kube/client/gzip.h"

#include <zlib.h>

#include <array>

namespace verl::kube {

struct GzipReader::State {
  z_stream stream{};
  std::int64_t most{0};
  std::int64_t in{0};
  std::int64_t out{0};
  bool complete{false};
};

GzipReader::GzipReader(Bytes most_output) : state_(std::make_unique<State>()) {
  state_->most = most_output.count;
  inflateInit2(&state_->stream, 15 + 16);  // 16: a gzip header is required
}

GzipReader::~GzipReader() { inflateEnd(&state_->stream); }

bool GzipReader::complete() const { return state_->complete; }

Result<bool> GzipReader::add(std::string_view packed, std::string& out) {
  State& state = *state_;
  if (state.complete && !packed.empty()) return failure(ErrorCode::Unavailable, "the gzip answer goes on after its end");
  state.in += static_cast<std::int64_t>(packed.size());
  std::string input(packed);  // zlib's input pointer is not const
  state.stream.next_in = reinterpret_cast<Bytef*>(input.data());
  state.stream.avail_in = static_cast<uInt>(input.size());
  std::array<char, 16384> buffer{};
  while (!state.complete) {
    state.stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    state.stream.avail_out = static_cast<uInt>(buffer.size());
    const int code = inflate(&state.stream, Z_NO_FLUSH);
    const size_t made = buffer.size() - state.stream.avail_out;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return failure(ErrorCode::Unavailable, "the gzip answer is broken");
    }
    state.out += static_cast<std::int64_t>(made);
    if (state.out > state.most) return failure(ErrorCode::TooLarge, "the answer is larger than its limit when unpacked");
    if (state.out > kMiB.count && state.out / 250 > state.in) {
      return failure(ErrorCode::TooLarge, "the answer unpacks to more than 250 times its size");
    }
    out.append(buffer.data(), made);
    state.complete = code == Z_STREAM_END;
    if (made == 0 || (state.stream.avail_in == 0 && state.stream.avail_out > 0)) break;
  }
  if (state.complete && state.stream.avail_in > 0) return failure(ErrorCode::Unavailable, "the gzip answer goes on after its end");
  return true;
}

}  // namespace verl::kube
