#include "diagnosis/kubernetes/memory_registration.h"
#include "tests/unit/diagnosis/kubernetes/read_kubernetes.h"

namespace verl::diagnosis {
namespace {

TEST(Ulimit, ReadsTheLayoutsOfAllShells) {
  EXPECT_EQ(found(read_text("open files                          (-n) 1048576\nmax locked memory           (kbytes, -l) unlimited\n")), Found{});
  EXPECT_EQ(found(read_text("open files                          (-n) 1048576\nmax locked memory           (kbytes, -l) 64\n")), Found{"limits-memlock memlock error"});
  EXPECT_EQ(found(read_text("Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              8388608              bytes     \nMax open files            1048576              1048576              files     \n")),
            Found{"limits-memlock memlock error"});
  EXPECT_EQ(found(read_text("Max locked memory         unlimited            unlimited            bytes     \nMax open files            1024                 1048576              files     \n")), Found{"limits-nofile nofile warning"});
  EXPECT_EQ(found(read_text("open files                          (-n) 1048576\nstack size (kbytes, -s) 8192\n")), Found{"document-incomplete memlock unknown"});
}

TEST(Df, JudgesDevShm) {
  constexpr std::string_view kHead = "Filesystem      Size  Used Avail Use% Mounted on\n";
  EXPECT_EQ(found(read_text(std::string(kHead) + "shm             256G  1.0G  255G   1% /dev/shm\n")), Found{});
  EXPECT_EQ(found(read_text(std::string(kHead) + "shm              64M     0   64M   0% /dev/shm\n")), Found{"shm-small /dev/shm warning"});
  EXPECT_EQ(found(read_text(std::string(kHead) + "shm             256G  256G     0 100% /dev/shm\n")), Found{"shm-free /dev/shm error"});
  EXPECT_EQ(found(read_text("Filesystem 1K-blocks Used Available Use% Mounted on\n")), Found{"document-incomplete rows unknown"});
}

TEST(MemoryRegistration, RanksByWhatIsKnown) {
  using kubernetes::RegistrationCause;
  const auto first = [](std::string_view meminfo, std::optional<std::int64_t> limit) { return kubernetes::registration_causes(kubernetes::memory_state(meminfo, limit)); };
  EXPECT_EQ(first("MemTotal: 1000 kB\nMemFree: 900 kB\n", 65536)[0].cause, RegistrationCause::LockedMemoryLimit);
  EXPECT_EQ(first("MemTotal: 1000 kB\nMemFree: 10 kB\n", -1)[0].cause, RegistrationCause::LowFreeMemory);
  EXPECT_EQ(first("", -1).back().cause, RegistrationCause::LockedMemoryLimit);
  EXPECT_FALSE(first("", std::nullopt)[0].supported);
}

}  // namespace
}  // namespace verl::diagnosis
