#include "diagnosis/nccl/shell_words.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace verl::nccl {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// A word under way.
class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  std::vector<ShellWord> words() {
    while (at_ < line_.size()) step();
    close();
    return std::move(words_);
  }

 private:
  void step() {
    const char c = line_[at_];
    if (c == '\'') return single();
    if (c == '"') return twofold();
    if (c == '\\') return escaped();
    if (c == ' ' || c == '\t' || c == '\n') {
      close();
      ++at_;
      return;
    }
    if (c == '#' && !open_) {
      const size_t end = line_.find('\n', at_);
      at_ = end == std::string_view::npos ? line_.size() : end;
      return;
    }
    if (c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
      close();
      words_.push_back({.text = std::string(1, c), .expands = false, .is_operator = true});
      ++at_;
      return;
    }
    take(c);
  }

  void take(char c) {
    open_ = true;
    word_.expands = word_.expands || c == '$' || c == '`';
    word_.text += c;
    ++at_;
  }

  void escaped() {
    ++at_;
    if (at_ >= line_.size()) return;
    if (line_[at_] != '\n') {
      open_ = true;
      word_.text += line_[at_];
    }
    ++at_;
  }

  void single() {
    open_ = true;
    const size_t end = std::min(line_.find('\'', at_ + 1), line_.size());
    word_.text += line_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  void twofold() {
    open_ = true;
    for (++at_; at_ < line_.size() && line_[at_] != '"'; ++at_) {
      if (line_[at_] == '\\' && at_ + 1 < line_.size() && std::string_view("\"\\$`\n").find(line_[at_ + 1]) != std::string_view::npos) {
        ++at_;
        if (line_[at_] != '\n') word_.text += line_[at_];
        continue;
      }
      word_.expands = word_.expands || line_[at_] == '$' || line_[at_] == '`';
      word_.text += line_[at_];
    }
    ++at_;
  }

  void close() {
    if (open_) words_.push_back(std::move(word_));
    word_ = {};
    open_ = false;
  }

  std::string_view line_;
  size_t at_{0};
  bool open_{false};
  ShellWord word_{};
  std::vector<ShellWord> words_{};
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) { return std::find(words.begin(), words.end(), text) != words.end(); }

std::optional<ShellSetting> assignment(std::string_view text, bool expands) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !is_variable_name(text.substr(0, equals))) return std::nullopt;
  ShellSetting one{.name = std::string(text.substr(0, equals)), .value = std::nullopt};
  if (!expands) one.value = std::string(text.substr(equals + 1));
  return one;
}

// NAME=VALUE, or NAME whose value the launcher takes from its own environment.
std::optional<ShellSetting> handed_on(std::string_view text, bool expands) {
  if (auto one = assignment(text, expands)) return one;
  if (!is_variable_name(text)) return std::nullopt;
  return ShellSetting{.name = std::string(text), .value = std::nullopt};
}

}  // namespace

bool is_variable_name(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::vector<ShellWord> shell_words(std::string_view line) { return Splitter(line).words(); }

std::vector<ShellSetting> shell_settings(std::string_view line) {
  const std::vector<ShellWord> words = shell_words(line);
  std::vector<ShellSetting> settings;
  const auto add = [&](std::optional<ShellSetting> one) {
    if (one) settings.push_back(std::move(*one));
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view text = words[i].text;
    const ShellWord* next = i + 1 < words.size() ? &words[i + 1] : nullptr;
    if (words[i].is_operator) continue;
    if (next && is_one_of(text, {"-genv", "-env", "setenv", "--genv"}) && !next->is_operator) {
      const bool joined = next->text.find('=') != std::string::npos;
      if (joined) {
        add(assignment(next->text, next->expands));
        i += 1;
      } else if (i + 2 < words.size() && is_variable_name(next->text)) {
        ShellSetting one{.name = next->text, .value = std::nullopt};
        if (!words[i + 2].expands) one.value = words[i + 2].text;
        settings.push_back(std::move(one));
        i += 2;
      }
    } else if (next && is_one_of(text, {"-x", "-e", "--env"}) && !next->is_operator) {
      if (auto one = handed_on(next->text, next->expands)) {
        add(std::move(one));
        ++i;
      }
    } else if (text.starts_with("--env=")) {
      add(handed_on(text.substr(6), words[i].expands));
    } else if (text.starts_with("--export=")) {
      for (const std::string_view part : split(text.substr(9), ',')) add(assignment(part, words[i].expands));
    } else if (const size_t hydra = text.find("env_vars."); hydra != std::string_view::npos) {
      add(assignment(text.substr(hydra + 9), words[i].expands));
    } else {
      add(assignment(text, words[i].expands));
    }
  }
  return settings;
}

}  // namespace verl::nccl
