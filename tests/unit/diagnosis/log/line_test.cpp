// How lines are taken apart, whoever wrapped them.
#include "diagnosis/log/line.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "diagnosis/log/cutter.h"
#include "diagnosis/log/words.h"

namespace verl::log {
namespace {

struct Case {
  const char* text{nullptr};
  const char* host{""};
  std::int64_t pid{-1};
  int device{-1};
  int rank{-1};
  const char* level{""};
  const char* message{""};
};

TEST(Line, IsReadWhateverStandsBeforeIt) {
  const Case kCases[] = {
      {"box-1:31:40 [3] NCCL INFO Using network IB", "box-1", 31, 3, -1, "INFO", "Using network IB"},
      {"box.site-1:31:40 [3] NCCL INFO Using network IB", "box.site-1", 31, 3, -1, "INFO", "Using network IB"},
      {"box-1:31:40 [3] misc/socket.cc:480 NCCL WARN x", "box-1", 31, 3, -1, "WARN", "x"},
      {"[2026-03-01 01:02:03] box-1:31:40 [3] misc/socket.cc:480 (ncclSocketConnect) NCCL WARN x y", "box-1", 31, 3, -1, "WARN", "x y"},
      {"box-1:31:40 [-1] NCCL ATTN x", "box-1", 31, -1, -1, "ATTN", "x"},
      {"box-1:31:40 [0] 12.500 init:3 NCCL TRACE x", "box-1", 31, 0, -1, "TRACE", "x"},
      {"[1,9]<stdout>:box-1:31:40 [1] NCCL INFO x", "box-1", 31, 1, 9, "INFO", "x"},
      {"[1,9]<stderr>: box-1:31:40 [1] NCCL INFO x", "box-1", 31, 1, 9, "INFO", "x"},
      {"[88] box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, 88, "INFO", "x"},
      {"7: box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, 7, "INFO", "x"},
      {"worker-0.log:12:box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, -1, "INFO", "x"},
      {"2026-01-14T08:02:11.123456789Z stdout F box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, -1, "INFO", "x"},
      {"[pod/vj-0/ray] box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, -1, "INFO", "x"},
      {"(WorkerDict pid=9, ip=192.0.2.7) box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, -1, "INFO", "x"},
      {"[36m(WorkerDict pid=9)[0m box-1:31:40 [6] NCCL INFO x", "box-1", 31, 6, -1, "INFO", "x"},
      {"[1] include/shm.h:28 NCCL WARN x", "", -1, 1, -1, "WARN", "x"},
      {"NCCL INFO Using network IB", "", -1, -1, -1, "INFO", "Using network IB"},
      {"NCCL version 2.21.5+cuda12.4", "", -1, -1, -1, "VERSION", "NCCL version 2.21.5+cuda12.4"},
      {"[rank3]: RuntimeError: bad", "", -1, -1, 3, "", "RuntimeError: bad"},
      {"Jan 14 08:02:11 node7 kubelet[12]: text", "node7", -1, -1, -1, "", "text"},
      {"please set NCCL_DEBUG=INFO for details, NCCL version 2.19.3", "", -1, -1, -1, "", "please set NCCL_DEBUG=INFO for details, NCCL version 2.19.3"},
  };
  for (const Case& one : kCases) {
    Records records;
    parse_line(one.text, 5, records);
    ASSERT_EQ(records.count, 1U) << one.text;
    const Line& line = records.lines[0];
    EXPECT_EQ(line.host, one.host) << one.text;
    EXPECT_EQ(line.pid, one.pid) << one.text;
    EXPECT_EQ(line.device, one.device) << one.text;
    EXPECT_EQ(line.rank, one.rank) << one.text;
    EXPECT_EQ(line.level, one.level) << one.text;
    EXPECT_EQ(line.message, one.message) << one.text;
    EXPECT_EQ(line.number, 5);
  }
}

TEST(Line, OfTwoWritersIsTwoRecords) {
  Records records;
  parse_line("a-1:1:2 [0] NCCL INFO Using network IBb-2:3:4 [1] NCCL INFO Using network Socket", 1, records);
  ASSERT_EQ(records.count, 2U);
  EXPECT_EQ(records.lines[1].message, "Using network Socket");
  EXPECT_TRUE(records.lines[1].torn);
  parse_line("NCCL version 2.21.5+cuda12.4b-2:3:4 [1] NCCL INFO x", 1, records);
  ASSERT_EQ(records.count, 2U);
  EXPECT_EQ(records.lines[0].message, "NCCL version 2.21.5+cuda12.4");
  EXPECT_EQ(records.lines[1].host, "b-2");
}

TEST(Line, OfABannerInAMessageIsOne) {
  Records records;
  parse_line("a-1:1:2 [0] NCCL INFO NCCL version 2.30.7+cuda13.0", 1, records);
  ASSERT_EQ(records.count, 1U);
  EXPECT_EQ(records.lines[0].message, "NCCL version 2.30.7+cuda13.0");
}

TEST(Line, ThatRayMergedCountsForAll) {
  Records records;
  parse_line("(W pid=1, ip=192.0.2.7) text [repeated 7x across cluster] (Ray deduplicates logs by default.)", 1, records);
  ASSERT_EQ(records.count, 1U);
  EXPECT_EQ(records.lines[0].times, 7);
  EXPECT_EQ(records.lines[0].message, "text");
  EXPECT_EQ(records.lines[0].ip, "192.0.2.7");
}

TEST(Line, OfBlanksIsNone) {
  Records records;
  for (const char* text : {"", "   ", "[88]", "[1,3]<stdout>:", "\t"}) {
    parse_line(text, 1, records);
    EXPECT_EQ(records.count, 0U) << text;
  }
}

TEST(Escapes, AreTakenOut) {
  std::string scratch;
  EXPECT_EQ(without_escapes("\x1b[36m(W pid=1)\x1b[0m a\x1b]0;title\a b", scratch), "(W pid=1) a b");
  EXPECT_EQ(without_escapes("plain", scratch), "plain");
  EXPECT_EQ(without_escapes("cut \x1b", scratch), "cut ");
  EXPECT_EQ(without_escapes("cut \x1b[", scratch), "cut ");
}

TEST(Cutter, GivesTheSameLinesForPiecesOfAnySize) {
  const std::string text = "one\r\n\ntwo\n" + std::string(3 * kLineBytes, 'x') + "\nlast";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, text.size()}) {
    LineCutter cutter;
    std::vector<std::pair<std::int64_t, std::string>> lines;
    const auto keep = [&](std::int64_t number, std::string_view line) { lines.emplace_back(number, line); };
    for (std::size_t at = 0; at < text.size(); at += piece) cutter.feed(std::string_view(text).substr(at, piece), keep);
    cutter.finish(keep);
    ASSERT_EQ(lines.size(), 5U) << piece;
    EXPECT_EQ(lines[0].second, "one");
    EXPECT_EQ(lines[1].second, "");
    EXPECT_EQ(lines[3].second.size(), kLineBytes);
    EXPECT_EQ(lines[4], (std::pair<std::int64_t, std::string>{5, "last"}));
    EXPECT_EQ(cutter.cut(), 1);
  }
}

TEST(Words, AreAllFoundEvenInsideEachOther) {
  constexpr std::string_view kWords[] = {"he", "she", "hers", "his", "e"};
  const Words words(kWords);
  std::vector<std::size_t> found;
  words.each("ushers", [&](std::size_t index) { found.push_back(index); });
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 1, 2, 4}));
  words.each("nothing", [](std::size_t) { FAIL(); });
}

}  // namespace
}  // namespace verl::log
