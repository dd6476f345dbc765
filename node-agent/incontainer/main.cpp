// verl-container-check: an init container copies it into the job's pod (install), container ray runs it before Ray (run). Linked
// statically, so that it runs in any image. Ends by itself within a minute, whatever hangs.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "node-agent/incontainer/install.h"
#include "node-agent/incontainer/judge.h"
#include "node-agent/incontainer/message.h"
#include "node-agent/incontainer/read.h"
#include "node-agent/incontainer/settings.h"

extern char** environ;

namespace {

using namespace verl::incontainer;

constexpr const char* kName = "verl-container-check";
constexpr int kWrongUsage = 64;
constexpr int kUnfit = 211;
constexpr int kMisconfigured = 213;
constexpr unsigned kSeconds = 60;

constexpr const char* kHelp =
    "Looks at a container of a VerlJob from inside, before Ray starts in it.\n"
    "\n"
    "usage: verl-container-check install DIR   copy this program to DIR/verl-container-check\n"
    "       verl-container-check run           check this container against VERL_RUN_* of its environment\n"
    "       verl-container-check --help | --version\n"
    "\n"
    "options of run:\n"
    "  --root DIR   look below DIR instead of /\n"
    "\n"
    "checked: the size of /dev/shm (VERL_RUN_SHM_BYTES); with VERL_RUN_RDMA_DEVICES locked memory and the devices\n"
    "/dev/infiniband/uverbs*; limits of open files and processes; with VERL_RUN_NUMA=Required (an error) or Preferred\n"
    "(a warning) CPUs on the NUMA node of each of VERL_RUN_GPUS GPUs.\n"
    "\n"
    "exit codes: 0 fit; 211 unfit, 213 a VERL_RUN_ variable is missing or wrong, both told as JSON in the file\n"
    "VERL_RUN_TERMINATION_LOG; 64 wrong usage; 1 install failed.\n";

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> values;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) values.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return values;
}

void tell(const std::string& path, const std::string& message) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0 || ::write(file, message.data(), message.size()) != static_cast<ssize_t>(message.size())) {
    std::fprintf(stderr, "%s: the termination message could not be written to %s\n", kName, path.c_str());
  }
  if (file >= 0) ::close(file);
}

int end(int code, const char* reason, const std::vector<std::string>& sentences, const std::string& log) {
  for (const std::string& sentence : sentences) std::fprintf(stderr, "%s: %s: %s\n", kName, code == kUnfit ? "unfit" : "error", sentence.c_str());
  tell(log, termination_message(reason, sentences));
  return code;
}

int run(const std::string& root) {
  ::alarm(kSeconds);  // a device or a mount that hangs ends the check by signal, which is no pass
  const Settings settings = read_settings(environment());
  if (!settings.faults.empty()) return end(kMisconfigured, "NodeMisconfigured", settings.faults, settings.termination_log);
  const Verdict verdict = judge(settings.wanted, read_facts(root));
  for (const std::string& warning : verdict.warnings) std::fprintf(stderr, "%s: warning: %s\n", kName, warning.c_str());
  if (!verdict.failures.empty()) return end(kUnfit, "ContainerUnfit", verdict.failures, settings.termination_log);
  std::fprintf(stderr, "%s: this container is fit\n", kName);
  return 0;
}

int wrong_usage() {
  std::fputs(kHelp, stderr);
  return kWrongUsage;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"--help"}) return std::fputs(kHelp, stdout) < 0 ? 1 : 0;
  if (words == std::vector<std::string>{"--version"}) return std::printf("%s %s\n", kName, VERL_VERSION) < 0 ? 1 : 0;
  if (words.size() == 2 && words[0] == "install") {
    const std::string problem = install("/proc/self/exe", words[1], kName);
    if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", kName, problem.c_str());
    return problem.empty() ? 0 : 1;
  }
  if (words == std::vector<std::string>{"run"}) return run("");
  if (words.size() == 3 && words[0] == "run" && words[1] == "--root") return run(words[2]);
  return wrong_usage();
}
