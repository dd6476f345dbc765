#include "kube/protocol/watch_stream.h"

#include <utility>

#include "kube/protocol/json_scan.h"

namespace verl::kube {
namespace {

WatchType parse_watch_type(std::string_view text) {
  if (text == "ADDED") return WatchType::Added;
  if (text == "MODIFIED") return WatchType::Modified;
  if (text == "DELETED") return WatchType::Deleted;
  if (text == "BOOKMARK") return WatchType::Bookmark;
  if (text == "ERROR") return WatchType::Error;
  return WatchType::Other;
}

}  // namespace

Result<bool> LineBuffer::feed(std::string_view bytes, const std::function<bool(std::string_view line)>& on_line) {
  const auto cap = static_cast<std::size_t>(max_line_.count);
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto piece = bytes.substr(0, end);
    if (buffer_.size() + piece.size() > cap) {
      buffer_.clear();
      return failure(ErrorCode::TooLarge, "read a watch: one event is longer than " + std::to_string(cap) + " bytes");
    }
    buffer_.reserve(buffer_.size() + piece.size() + kJsonPadding);
    buffer_ += piece;
    if (end == std::string_view::npos) return true;
    bytes.remove_prefix(end + 1);
    const auto line = trim(buffer_);
    const bool go_on = line.empty() || on_line(line);
    buffer_.clear();
    if (!go_on) return false;
  }
  return true;
}

std::string_view to_string(WatchType type) {
  switch (type) {
    case WatchType::Added: return "ADDED";
    case WatchType::Modified: return "MODIFIED";
    case WatchType::Deleted: return "DELETED";
    case WatchType::Bookmark: return "BOOKMARK";
    case WatchType::Error: return "ERROR";
    case WatchType::Other: return "other";
  }
  return "other";
}

Result<WatchLine> parse_watch_line(std::string_view padded_line) {
  thread_local simdjson::ondemand::parser parser;
  WatchLine line;
  simdjson::ondemand::document document;
  if (const auto error = parser.iterate(json_scan::padded(padded_line)).get(document)) {
    return json_scan::invalid("read a watch event", error);
  }
  simdjson::ondemand::object fields;
  if (const auto error = document.get_object().get(fields)) return json_scan::invalid("read a watch event", error);
  const auto error = json_scan::each_field(fields, [&](std::string_view key, simdjson::ondemand::value field) {
    if (key == "type") line.type_text = json_scan::string_or_empty(field);
    if (key == "object") {
      const auto read = json_scan::raw_object(field, line.object_json);
      return read == simdjson::INCORRECT_TYPE ? simdjson::SUCCESS : read;
    }
    return simdjson::SUCCESS;
  });
  if (error) return json_scan::invalid("read a watch event", error);
  if (json_scan::has_more(document)) return failure(ErrorCode::Invalid, "read a watch event: something follows its end");
  line.type = parse_watch_type(line.type_text);
  return line;
}

}  // namespace verl::kube
