// What a process met on its own host: shared memory, libraries, CUDA, GPUs, NVLink. NCCL src/misc/{shmutils,nvmlwrap}.cc, src/transport,
// CUDA's error texts, the kernel's Xid lines.
#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/log/cause.h"
#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

using diagnosis::Severity;
using namespace std::string_view_literals;

// "failed to extend /dev/shm/nccl-q7Rk2B to 33030148 bytes, error: …", "Error while creating shared memory segment NAME (size N)"
bool shared_memory(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  std::string_view segment;
  for (const std::string_view phrase : {"failed to extend "sv, "shared memory segment "sv, "shared memory(shm) for file "sv, "shared memory object "sv}) {
    if (const auto rest = after(message, phrase)) segment = word_at(*rest);
  }
  while (segment.starts_with('<') || segment.starts_with('/')) {
    const std::size_t slash = segment.rfind('/');
    segment = segment.substr(slash == std::string_view::npos ? 1 : slash + 1);
  }
  while (segment.ends_with('>') || segment.ends_with(':')) segment.remove_suffix(1);
  auto size = number_after(message, "(size ");
  if (!size) size = number_after(message, "size ");
  if (!segment.empty()) add_value(out, "segment", std::string(segment));
  if (size) add_value(out, "size", *size, "B");
  if (const auto extended = number_after(message, " to "); extended && message.find("extend") != std::string_view::npos) add_value(out, "extended_to", *extended, "B");
  std::string reason;
  for (const std::string_view one : {"No space left on device"sv, "Permission denied"sv, "File exists"sv, "No such file or directory"sv, "Cannot allocate memory"sv}) {
    if (message.find(one) != std::string_view::npos) reason = std::string(one);
  }
  if (!reason.empty()) add_value(out, "reason", reason);
  out.seen = reason;
  const bool other = !reason.empty() && reason != "No space left on device" && reason != "Cannot allocate memory";
  if (other) {
    out.message = fmt::format("a shared memory segment could not be made{}: {}", on_host(line), reason);
    out.remedy = "look at the mount and the rights of /dev/shm in the container, remove stale nccl-* files";
  } else {
    out.message = fmt::format("shared memory exhausted{}: /dev/shm is too small or filled by leftover nccl-* files", on_host(line));
  }
  return true;
}

bool nvml(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  out.subject = "libnvidia-ml.so.1";
  if (message.find("version mismatch") != std::string_view::npos) {
    out.message = fmt::format("NVML and the kernel module are of different driver versions{}", on_host(line));
    out.remedy = "restart the node after the driver update, or mount the libraries of the running driver";
    return true;
  }
  add_value(out, "library", std::string("libnvidia-ml.so.1"));
  out.message = fmt::format("NVML library libnvidia-ml.so.1 not found{}: the container lacks the driver's libraries, the topology is not at fault", on_host(line));
  return true;
}

struct CudaText {
  std::string_view text{};
  std::string_view meaning{};
};
constexpr std::array kCuda{
    CudaText{"out of memory", "the GPU's memory is full"},
    CudaText{"system not yet initialized", "Fabric Manager does not run or has not finished"},
    CudaText{"system has unsupported display driver", "driver and CUDA library do not fit"},
    CudaText{"driver version is insufficient", "the driver is older than the CUDA library needs"},
    CudaText{"illegal memory access", "a kernel wrote outside its memory; the first rank that says so is the one to look at"},
    CudaText{"unspecified launch failure", "a kernel crashed; look for an Xid of that GPU in the kernel log"},
    CudaText{"uncorrectable ECC error", "the GPU's memory is broken"},
    CudaText{"invalid device ordinal", "CUDA_VISIBLE_DEVICES and the process's local rank do not fit"},
    CudaText{"no CUDA-capable device", "no GPU is visible in the container"},
    CudaText{"peer access", "GPUs of this container may not reach each other"},
    CudaText{"mapping of buffer object failed", "memory of another process could not be mapped"},
    CudaText{"API call is not supported", "the driver or the container does not support what NCCL tried"},
    CudaText{"NVLink", "an NVLink failed"},
};

bool cuda(const Line& line, Sighting& out) {
  const std::string_view message = line.message;
  const std::string_view text = between(message, "'", "'");
  for (const CudaText& one : kCuda) {
    if (message.find(one.text) == std::string_view::npos) continue;
    out.subject = std::string(one.text);
    out.message = fmt::format("a CUDA call failed{}: {}: {}", on_host(line), one.text, one.meaning);
  }
  if (out.subject.empty()) {
    out.subject = shorten(text, 80);
    out.message = fmt::format("a CUDA call failed{}: {}", on_host(line), text.empty() ? quoted(message) : quoted(text));
  }
  if (out.subject == "out of memory") out.rule = "log-gpu-memory";
  add_value(out, "error", out.subject);
  return true;
}

bool gpu_memory(const Line& line, Sighting& out) {
  out.subject = "out of memory";
  if (const std::string_view wanted = between(line.message, "Tried to allocate ", "."); !wanted.empty() && wanted.size() < 40) add_value(out, "tried", std::string(wanted));
  out.message = fmt::format("a GPU ran out of memory{}: {}", on_host(line), quoted(line.message));
  return true;
}

// "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus."
bool xid(const Line& line, Sighting& out) {
  const std::string_view bus = between(line.message, "Xid (PCI:", ")");
  const auto rest = after(line.message, "): ");
  const auto number = rest ? number_at(*rest) : std::nullopt;
  if (!number) return false;
  out.subject = std::string(bus);
  add_value(out, "bus", std::string(bus));
  add_value(out, "xid", *number);
  // 13, 31, 43, 45: of the program; 63, 92, 94: corrected or contained. NVIDIA's Xid list.
  const bool program = *number == 13 || *number == 31 || *number == 43 || *number == 45;
  out.severity = program || *number == 63 || *number == 92 || *number == 94 ? Severity::Warning : Severity::Error;
  if (program) out.blame = Blame::Follows;
  out.seen = std::to_string(*number);
  out.message = fmt::format("GPU {} reported Xid {}{}{}", bus, *number, on_host(line), program ? ": most often the program's fault or its end" : "");
  return true;
}

bool duplicate_gpu(const Line& line, Sighting& out) {
  const auto first = number_after(line.message, "rank ");
  const auto second = number_after(line.message, "and rank ");
  if (first && second) {
    add_value(out, "rank", *first);
    add_value(out, "other_rank", *second);
    if (const auto device = after(line.message, "CUDA device ")) {
      add_value(out, "bus", std::string(word_at(*device)));
      out.subject = std::string(word_at(*device));
    }
    out.message = fmt::format("ranks {} and {} use the same GPU{}", *first, *second, on_host(line));
  }
  return true;
}

bool nvlink_p2p(const Line& line, Sighting& out) {
  const auto first = number_after(line.message, "GPUs ");
  const auto second = number_after(line.message, " and ");
  if (!first || !second) return true;
  out.subject = fmt::format("GPU{} GPU{}", *first, *second);
  out.message = fmt::format("GPUs {} and {} are joined by NVLink but may not reach each other{}", *first, *second, on_host(line));
  return true;
}

constexpr std::array kCauses{
    Cause{"log-shared-memory", Blame::First, "failed to extend ", "/dev/shm", shared_memory},
    Cause{"log-shared-memory", Blame::First, "failed to extend ", "nccl-", shared_memory},
    Cause{"log-shared-memory", Blame::First, "creating shared memory segment", {}, shared_memory},
    Cause{"log-shared-memory", Blame::First, "attaching to shared memory segment", {}, shared_memory},
    Cause{"log-shared-memory", Blame::First, "posix_fallocate failed", {}, shared_memory},
    Cause{"log-shared-memory", Blame::First, "unable to allocate shared memory", {}, shared_memory},
    Cause{"log-shared-memory", Blame::First, "unable to open shared memory object", {}, shared_memory},
    Cause{"log-shared-memory", Blame::First, "insufficient shared memory (shm)", {}, shared_memory},
    Cause{"log-nvml-missing", Blame::Setting, "Failed to open libnvidia-ml", {}, nvml},
    Cause{"log-nvml-missing", Blame::Setting, "libnvidia-ml.so", "cannot open shared object", nvml},
    Cause{"log-nvml-missing", Blame::Setting, "libnvidia-ml.so", "not found", nvml},
    Cause{"log-nvml-missing", Blame::Setting, "NVML Shared Library Not Found", {}, nvml},
    Cause{"log-nvml-missing", Blame::Setting, "Driver/library version mismatch", {}, nvml},
    Cause{"log-nvml-missing", Blame::Setting, "nvml error: driver/library version mismatch", {}, nvml},
    Cause{"log-cuda-failure", Blame::First, "Cuda failure", {}, cuda},
    Cause{"log-cuda-failure", Blame::First, "CUDA error: ", {}, cuda},
    Cause{"log-cuda-failure", Blame::First, "CUDA failure", {}, cuda},
    Cause{"log-gpu-memory", Blame::First, "CUDA out of memory", {}, gpu_memory},
    Cause{"log-gpu-memory", Blame::First, "HIP out of memory", {}, gpu_memory},
    Cause{"log-xid", Blame::Port, "NVRM: Xid (PCI:", {}, xid},
    Cause{"log-duplicate-gpu", Blame::Mismatch, "Duplicate GPU detected", {}, duplicate_gpu},
    Cause{"log-duplicate-gpu", Blame::Mismatch, "Multiple ranks detected using the same GPU", {}, duplicate_gpu},
    Cause{"log-duplicate-gpu", Blame::Mismatch, "Multiple Ranks are using the same GPU", {}, duplicate_gpu},
    Cause{"log-nvlink-p2p", Blame::First, "P2P is disabled between NVLINK connected GPUs", {}, nvlink_p2p},
    Cause{"log-nvls", Blame::First, "Failed to bind NVLink SHARP", {}, nullptr},
    Cause{"log-nvls", Blame::First, "MNNVL (cliqueSize", "not working", nullptr},
    Cause{"log-gpudirect-module", Blame::Setting, "nv_peer_mem module not loaded", {}, nullptr},
    Cause{"log-rccl-setting", Blame::Setting, "Missing \"iommu=pt\"", {}, nullptr},
    Cause{"log-rccl-setting", Blame::Setting, "NUMA auto balancing enabled", {}, nullptr},
    Cause{"log-rccl-setting", Blame::Setting, "Missing \"HSA_FORCE_FINE_GRAIN_PCIE=1\"", {}, nullptr},
    Cause{"log-out-of-memory", Blame::First, "Out of memory: Killed process", {}, nullptr},
    Cause{"log-out-of-memory", Blame::First, "Memory cgroup out of memory", {}, nullptr},
};

}  // namespace

std::span<const Cause> host_causes() { return kCauses; }

}  // namespace verl::log
