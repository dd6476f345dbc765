// Single messages of NCCL by version.
#include "diagnosis/log/nccl_message.h"

#include <gtest/gtest.h>

#include "diagnosis/log/scan.h"

namespace verl::log {
namespace {

TEST(NetDevices, KeepTheirOrderInAllForms) {
  const NetDevices plain = read_net_devices("[0]hfi_3:1/IB [1]hfi_0:2/RoCE [RO]; OOB ib1:192.0.2.9<0>");
  ASSERT_EQ(plain.devices.size(), 2U);
  EXPECT_EQ(plain.devices[0], (NetDevice{"hfi_3", 1, "IB"}));
  EXPECT_EQ(plain.devices[1], (NetDevice{"hfi_0", 2, "RoCE"}));
  EXPECT_TRUE(plain.relaxed_ordering);
  ASSERT_TRUE(plain.oob);
  EXPECT_EQ(plain.oob->name, "ib1");
  const NetDevices merged = read_net_devices("[0]={[0] hfi_0:1/RoCE, [1] hfi_1:1/RoCE} [1]hfi_2:1/RoCE ; OOB eth0:fe80::1%eth0<0>");
  ASSERT_EQ(merged.devices.size(), 3U);
  EXPECT_EQ(merged.devices[1].name, "hfi_1");
  EXPECT_FALSE(merged.relaxed_ordering);
  EXPECT_EQ(merged.oob->address, "fe80::1");
  const NetDevices rail = read_net_devices("[0]hfi_0:1/RoCE:0:1 [1]hfi_1:1/IB/SHARP");
  ASSERT_EQ(rail.devices.size(), 2U);
  EXPECT_EQ(rail.devices[0].link, "RoCE");
  EXPECT_EQ(rail.devices[1].link, "IB");
  EXPECT_TRUE(read_net_devices(" ; OOB eth0:192.0.2.9<0>").devices.empty());
}

struct PathCase {
  const char* message{nullptr};
  int number{0}, from{0}, to{0};
  const char* kind{nullptr};
  int device{-1};
  bool gdr{false};
};

TEST(ChannelPath, IsReadFrom24To232) {
  const PathCase kCases[] = {
      {"Ring 00 : 8[0] -> 9[1] [send] via NET/Socket/0", 0, 8, 9, "NET/Socket", 0, false},
      {"Channel 01 : 2[32010] -> 1[2d010] via P2P/IPC/read", 1, 2, 1, "P2P/IPC/read", -1, false},
      {"Channel 03/0 : 0[0] -> 8[0] [receive] via NET/IB/2(3)/GDRDMA/Shared", 3, 0, 8, "NET/IB", 2, true},
      {"Channel 03/0 : 0[0] -> 8[0] [send] via NET/IB/2/GDRDMA(PCI)", 3, 0, 8, "NET/IB", 2, true},
      {"Channel 00/1 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA", 0, 0, 8, "NET/AWS Libfabric", 0, true},
      {"Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", 0, 0, 1, "SHM/direct/direct", -1, false},
      {"Channel 00 : 0[0] -> 1[1] via direct shared memory", 0, 0, 1, "SHM", -1, false},
      {"Channel 00/0 : 0[0] -> 1[1] via P2P/indirect/5[5]", 0, 0, 1, "P2P/indirect", -1, false},
      {"Channel 00/0 : 0[c000] -> 1[22000] via P2P/direct pointer comm 0x1 nRanks 08", 0, 0, 1, "P2P/direct pointer", -1, false},
      {"Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", 0, 0, 1, "P2P/CUMEM", -1, false},
  };
  for (const PathCase& one : kCases) {
    const auto path = read_channel(one.message);
    ASSERT_TRUE(path) << one.message;
    EXPECT_EQ(path->number, one.number) << one.message;
    EXPECT_EQ(path->from, one.from) << one.message;
    EXPECT_EQ(path->to, one.to) << one.message;
    EXPECT_EQ(path->kind, one.kind) << one.message;
    EXPECT_EQ(path->device, one.device) << one.message;
    EXPECT_EQ(path->gdr, one.gdr) << one.message;
  }
  EXPECT_FALSE(read_channel("Channel 00/02 :    0   1"));
  EXPECT_FALSE(read_channel("Channel 00 : 0[0] -> 1[1] via "));
  EXPECT_FALSE(read_channel("Channel 00 : x -> 1[1] via P2P"));
}

TEST(Affinity, IsReadFromWordsAndLists) {
  EXPECT_EQ(read_affinity("ff,ffff0000,00ffffff"), "0-23,48-71");
  EXPECT_EQ(read_affinity("0fffff"), "0-19");
  EXPECT_EQ(read_affinity("0-23,48-71"), "0-23,48-71");
  EXPECT_EQ(read_affinity("1"), "0");
  EXPECT_EQ(read_affinity("nonsense"), "");
  EXPECT_EQ(read_affinity("fffffffff"), "");
  EXPECT_EQ(read_affinity(""), "");
}

TEST(Version, IsReadWithItsCuda) {
  EXPECT_EQ(read_version("2.21.5+cuda12.4"), (Version{"2.21.5", "12.4"}));
  EXPECT_EQ(read_version("2.27.3 compiled with CUDA 12.9"), (Version{"2.27.3", "12.9"}));
  EXPECT_EQ(read_version("2.4.8"), (Version{"2.4.8", ""}));
  EXPECT_FALSE(read_version("mismatch"));
}

TEST(Communicator, IsReadInAllForms) {
  const auto old = read_communicator("comm 0x7f00 rank 3 nranks 8 cudaDev 3 busId 1b000 - Init COMPLETE");
  ASSERT_TRUE(old);
  EXPECT_EQ(old->rank, 3);
  EXPECT_EQ(old->stage, "Init COMPLETE");
  EXPECT_EQ(old->id, "");
  const auto fresh = read_communicator("[Rank 1] ncclCommInitRankConfig comm 0x55 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 3a000 commId 0x71b0 - Init START");
  ASSERT_TRUE(fresh);
  EXPECT_EQ(fresh->id, "71b0");
  EXPECT_EQ(fresh->stage, "Init START");
  const auto nodes = read_communicator("comm 0x55 rank 1 nRanks 16 nNodes 2 localRanks 8 localRank 1 MNNVL 0");
  ASSERT_TRUE(nodes);
  EXPECT_EQ(nodes->nodes, 2);
  EXPECT_FALSE(read_communicator("comm 0x55 rank 9 nranks 2"));
}

TEST(Address, IsReadInAllForms) {
  EXPECT_EQ(address_at("192.0.2.1<4711>"), (Address{"192.0.2.1", "", 4711}));
  EXPECT_EQ(address_at("fe80::1%eth0<0>"), (Address{"fe80::1", "eth0", std::nullopt}));
  EXPECT_EQ(address_at("[2001:db8::1]:22"), (Address{"2001:db8::1", "", 22}));
  EXPECT_EQ(address_at("192.0.2.1:6379"), (Address{"192.0.2.1", "", 6379}));
  EXPECT_FALSE(address_at(""));
}

TEST(Interface, IsJudgedByNameAndAddress) {
  EXPECT_EQ(fault_of({"ens3f0", "192.0.2.1"}), "");
  EXPECT_EQ(fault_of({"ib0", "2001:db8::1"}), "");
  EXPECT_NE(fault_of({"veth12", "192.0.2.1"}), "");
  EXPECT_NE(fault_of({"cali12", "fe80::1"}), "");
  EXPECT_NE(fault_of({"ens3f0", "fe80::1"}), "");
  EXPECT_NE(fault_of({"eth1", "169.254.3.4"}), "");
  EXPECT_NE(fault_of({"lo", "127.0.0.1"}), "");
}

TEST(CutShort, IsOnlyWhatLacksItsValue) {
  EXPECT_TRUE(is_cut_short("NET/IB : Got completion from peer 192.0.2.1<1> with error 12, opcode 0, len"));
  EXPECT_TRUE(is_cut_short("Channel 00/0 : 0[0] -> 1[1]"));
  EXPECT_TRUE(is_cut_short("Using network"));
  EXPECT_FALSE(is_cut_short("Using network IB"));
  EXPECT_FALSE(is_cut_short("Channel 00/02 :    0   1"));
  EXPECT_FALSE(is_cut_short("NET/IB : Got completion from peer 192.0.2.1<1> with error 12, opcode 0, len 0, vendor err 129"));
}

}  // namespace
}  // namespace verl::log
