// A kind of text that people have: how it is recognised by content and how it is read.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnosis/policy.h"
#include "diagnosis/reading.h"

namespace verl::diagnosis {

struct ReadOptions {
  bool strip_comment_prefix{false};  // "# " before every line was added by whoever pasted it
  Policy policy{};
  std::string name{};                // of the document, for readers that must tell parts apart; never decides the format
};

// Text too large to hold at once, in pieces of any size. Memory stays constant.
class StreamReader {
 public:
  StreamReader() = default;
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;
  virtual ~StreamReader() = default;
  virtual void feed(std::string_view piece) = 0;
  virtual Reading finish() = 0;
};

struct Format {
  std::string_view name{};  // "nvidia-smi-topo"; for --as and -o json
  std::string_view what{};  // "nvidia-smi topo -m and -mp": the command that prints it
  // 0: it is not; 100: it cannot be anything else. Given the first kLikenessBytes.
  int (*likeness)(std::string_view head){nullptr};
  // An error when the text is not of this format or too damaged to say anything; partial text is a Reading that says what is missing.
  Result<Reading> (*read)(std::string_view text, const ReadOptions& options){nullptr};
  std::unique_ptr<StreamReader> (*stream)(const ReadOptions& options){nullptr};  // only for formats that come in gigabytes
  std::string_view usual_name{};  // of the file, where its text could be several things: "nccl.conf" is also an environment
};

constexpr std::size_t kLikenessBytes = 65536;
constexpr std::size_t kDocumentBytes = 64 * 1024 * 1024;  // larger ones are refused, unless the format streams

std::vector<Format> all_formats();
const Format* format_named(std::span<const Format> formats, std::string_view name);

// The likeliest; nullptr when none is likely (below 20). Where none is sure (90), a file with a format's usual name is that format.
const Format* recognise(std::span<const Format> formats, std::string_view head, std::string_view name);

// Each family lists its own; all_formats() joins them.
std::span<const Format> nccl_formats();        // environments, conf files
std::span<const Format> log_formats();         // NCCL, Gloo, PyTorch, Ray, verl, kubelet logs: one format, line by line
std::span<const Format> topology_formats();
std::span<const Format> time_formats();
std::span<const Format> fabric_formats();
std::span<const Format> benchmark_formats();
std::span<const Format> kubernetes_formats();

}  // namespace verl::diagnosis
