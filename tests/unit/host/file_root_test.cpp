#include "host/file_root.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>

#include "host/host.h"
#include "tests/unit/host/scratch.h"

namespace verl::host {
namespace {

TEST(FileRoot, ReadsBelowItself) {
  const Scratch scratch;
  scratch.put("/sys/class/net/eth0/mtu", "9000\n");
  const auto root = FileRoot::open(scratch.path());
  ASSERT_TRUE(root);
  EXPECT_EQ(root->read_file("/sys/class/net/eth0/mtu", kMaxFile), "9000\n");
  EXPECT_EQ(root->list_dir("/sys/class/net"), std::vector<std::string>{"eth0"});
  EXPECT_EQ(root->exists("/sys/class/net/eth1"), false);
}

TEST(FileRoot, TellsAFolderFromAFileAndAMountFromAFolder) {
  const Scratch scratch;
  scratch.put("/etc/nccl.conf", "");
  scratch.put("/proc/version", "copied");
  scratch.link("/link", "etc");
  scratch.link("/dangling", "nowhere");
  const auto root = FileRoot::open(scratch.path());
  ASSERT_TRUE(root);
  EXPECT_EQ(root->is_directory("/etc"), true);
  EXPECT_EQ(root->is_directory("/link"), true);
  EXPECT_EQ(root->is_directory("/etc/nccl.conf"), false);
  EXPECT_EQ(root->is_directory("/dangling"), false);
  EXPECT_EQ(root->is_directory("/sys"), false);
  EXPECT_EQ(root->is_mounted("/proc", PROC_SUPER_MAGIC), false);
  EXPECT_EQ(root->is_mounted("/sys", SYSFS_MAGIC), false);
  const auto machine = FileRoot::open("/");
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->is_mounted("/proc", PROC_SUPER_MAGIC), true);
}

TEST(FileRoot, NoLinkLeadsOut) {
  const Scratch outside;
  outside.put("/secret", "x");
  const Scratch scratch;
  scratch.put("/secret", "inside");
  scratch.put("/a/b/file", "");
  scratch.link("/a/absolute", outside.path("/secret"));
  scratch.link("/a/upwards", "../../../../../../../../../../.." + outside.path("/secret"));
  scratch.link("/a/round", "round");
  scratch.link("/a/root", "/secret");
  const auto root = FileRoot::open(scratch.path());
  ASSERT_TRUE(root);
  EXPECT_EQ(root->read_file("/a/absolute", kMaxFile).error().code, ErrorCode::NotFound);
  EXPECT_EQ(root->read_file("/a/upwards", kMaxFile).error().code, ErrorCode::NotFound);
  EXPECT_EQ(root->read_file("/a/round", kMaxFile).error().code, ErrorCode::Invalid);
  EXPECT_EQ(root->read_file("/../../../a/root", kMaxFile), "inside");  // absolute links mean the recorded root
}

TEST(FileRoot, RefusesWhatIsTooLargeOrNoFile) {
  const Scratch scratch;
  scratch.put("/large", std::string(65537, 'x'));
  scratch.put("/just", std::string(65536, 'x'));
  ASSERT_EQ(::mkfifo(scratch.path("/pipe").c_str(), 0600), 0);
  const auto root = FileRoot::open(scratch.path());
  ASSERT_TRUE(root);
  EXPECT_EQ(root->read_file("/large", kMaxFile).error().code, ErrorCode::TooLarge);
  EXPECT_TRUE(root->read_file("/just", kMaxFile));
  EXPECT_EQ(root->read_file("/pipe", kMaxFile).error().code, ErrorCode::Invalid);  // and does not wait for a writer
  EXPECT_FALSE(root->read_file("/", kMaxFile));
  EXPECT_EQ(root->read_link("/just").error().code, ErrorCode::Unavailable);
  EXPECT_EQ(FileRoot::open(scratch.path("/nowhere")).error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace verl::host
