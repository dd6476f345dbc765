#include "diagnosis/nccl/nearest.h"

#include <gtest/gtest.h>

namespace verl::nccl {
namespace {

TEST(NcclNearest, CountsASwapAsOneEdit) {
  EXPECT_EQ(edit_distance("INDEX", "IDNEX", 2), 1);
  EXPECT_EQ(edit_distance("HCA", "HCAS", 2), 1);
  EXPECT_EQ(edit_distance("abc", "abc", 2), 0);
  EXPECT_EQ(edit_distance("abc", "xyz", 2), 3);
  EXPECT_EQ(edit_distance("", "ab", 2), 2);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3);
}

TEST(NcclNearest, ProposesNamesThatAreRead) {
  EXPECT_EQ(nearest_name("NCCL_SOCKET_IFNAMES"), "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(nearest_name("NCLL_DEBUG"), "NCCL_DEBUG");
  EXPECT_EQ(nearest_name("GLOO_SOCKET_IFNAMEE"), "GLOO_SOCKET_IFNAME");
  EXPECT_EQ(nearest_name("NCCL_SOMETHING_ELSE"), "");
  EXPECT_EQ(nearest_name(std::string(5000, 'N')), "");
}

TEST(NcclNearest, RelatesVendorsNamesByTheirWords) {
  EXPECT_EQ(related_name("NCCL_ACME_USE_DMABUF"), "NCCL_DMABUF_ENABLE");
  EXPECT_EQ(related_name("NCCL_ACME_FAST_PATH"), "");
}

}  // namespace
}  // namespace verl::nccl
