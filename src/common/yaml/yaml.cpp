#include "yaml/yaml.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/text.h"
#include "yaml/yaml_scalar.h"

namespace verl {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxBytes = 4 * 1024 * 1024;
constexpr size_t kMaxValues = 200'000;
constexpr size_t kMaxDepth = 64;
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

// Builds the documents from the parser's events. The first fault is kept; what follows it is skipped.
class Builder final : public YAML::EventHandler {
 public:
  std::vector<Json> documents{};
  std::string fault{};

  void OnDocumentStart(const YAML::Mark&) override {
    open_.clear();
    anchors_.clear();
    root_ = Json();
    content_ = false;
  }

  void OnDocumentEnd() override {
    if (fault.empty() && content_ && !root_.is_null()) documents.push_back(std::move(root_));
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { value(mark, Json(nullptr), anchor, 1); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return fail(mark, "an alias inside its own anchor");
    const auto [copy, size] = found->second;
    value(mark, copy, YAML::NullAnchor, size);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    if (tag == "!" || tag == kStringTag) return scalar(mark, Json(text), anchor, false);
    if (!tag.empty() && tag != "?" && !tag.starts_with("tag:yaml.org,2002:")) return fail(mark, fmt::format("tag {} means nothing here", tag));
    if (tag == "tag:yaml.org,2002:binary") return fail(mark, "binary values cannot be written as JSON; give the text itself");
    auto meaning = plain_scalar(text);
    if (!meaning) return fail(mark, fmt::format("{} cannot be written as JSON", text));
    scalar(mark, std::move(*meaning), anchor, text == "<<");
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, Json::array(), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open(mark, Json::object(), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  // A sequence or mapping that is being filled.
  struct Level {
    Json content{};
    YAML::anchor_t anchor{YAML::NullAnchor};
    YAML::Mark mark{};
    size_t size{1};          // values in it, itself included, aliases expanded
    bool has_key{false};     // a mapping that waits for a value
    bool merge{false};       // the key is <<
    std::string key{};
    std::vector<Json> merged{};
  };

  void fail(const YAML::Mark& mark, std::string_view what) {
    if (fault.empty()) fault = fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, shorten(escape_controls(what), 256));
  }

  void open(const YAML::Mark& mark, Json content, YAML::anchor_t anchor) {
    if (!fault.empty()) return;
    if (open_.size() >= kMaxDepth) return fail(mark, fmt::format("more than {} levels", kMaxDepth));
    if (awaits_key()) return fail(mark, "a mapping or list cannot be a key");
    Level level{};
    level.content = std::move(content);
    level.anchor = anchor;
    level.mark = mark;
    open_.push_back(std::move(level));
  }

  void close() {
    if (!fault.empty()) return;
    Level done = std::move(open_.back());
    open_.pop_back();
    for (const Json& source : done.merged) {
      for (const auto& item : source.items()) {
        if (!done.content.contains(item.key())) done.content[item.key()] = item.value();
      }
    }
    value(done.mark, std::move(done.content), done.anchor, done.size);
  }

  bool awaits_key() const { return !open_.empty() && open_.back().content.is_object() && !open_.back().has_key; }

  void scalar(const YAML::Mark& mark, Json meaning, YAML::anchor_t anchor, bool merge) {
    if (!fault.empty()) return;
    if (!awaits_key()) return value(mark, std::move(meaning), anchor, 1);
    Level& level = open_.back();
    level.key = meaning.is_string() ? meaning.get<std::string>() : meaning.dump();
    level.merge = merge;
    level.has_key = true;
    if (!merge && level.content.contains(level.key)) fail(mark, fmt::format("key \"{}\" stands twice in one mapping", level.key));
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {std::move(meaning), 1};
  }

  void value(const YAML::Mark& mark, Json done, YAML::anchor_t anchor, size_t size) {
    if (!fault.empty()) return;
    if (awaits_key()) return scalar(mark, std::move(done), anchor, false);
    values_ += size;
    if (values_ > kMaxValues) return fail(mark, fmt::format("more than {} values, aliases counted as often as they are used", kMaxValues));
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {done, size};
    if (open_.empty()) {
      root_ = std::move(done);
      content_ = true;
      return;
    }
    Level& level = open_.back();
    level.size += size;
    if (level.content.is_array()) {
      level.content.push_back(std::move(done));
      return;
    }
    level.has_key = false;
    if (!level.merge) {
      level.content[level.key] = std::move(done);
    } else if (done.is_object()) {
      level.merged.push_back(std::move(done));
    } else if (done.is_array() && std::all_of(done.begin(), done.end(), [](const Json& one) { return one.is_object(); })) {
      for (Json& one : done) level.merged.push_back(std::move(one));
    } else {
      fail(mark, "<< merges a mapping or a list of mappings");
    }
  }

  std::vector<Level> open_{};
  std::map<YAML::anchor_t, std::pair<Json, size_t>> anchors_{};
  Json root_{};
  bool content_{false};
  size_t values_{0};
};

}  // namespace

Result<std::vector<std::string>> yaml_documents_to_json(std::string_view yaml) {
  if (yaml.size() > kMaxBytes) return failure(ErrorCode::TooLarge, fmt::format("YAML of {} bytes; at most {} are read", yaml.size(), kMaxBytes));
  std::istringstream in{std::string(yaml)};
  Builder builder;
  try {
    YAML::Parser parser(in);
    while (builder.fault.empty() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& exception) {
    return failure(ErrorCode::Invalid, fmt::format("YAML: {}", shorten(escape_controls(exception.what()), 256)));
  }
  if (!builder.fault.empty()) return failure(ErrorCode::Invalid, "YAML: " + builder.fault);
  std::vector<std::string> texts;
  for (const Json& document : builder.documents) texts.push_back(document.dump(-1, ' ', false, Json::error_handler_t::replace));
  return texts;
}

}  // namespace verl
