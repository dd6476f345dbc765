#include "base/quantity.h"

#include <gtest/gtest.h>

namespace verl {
namespace {

struct Case {
  std::string_view text{};
  std::optional<std::int64_t> milli{};
  std::optional<std::int64_t> whole{};
};

TEST(Quantity, ReadsWhatTheApiserverReads) {
  const Case cases[] = {
      {"8", 8000, 8},
      {"0", 0, 0},
      {"500m", 500, 1},
      {"1500m", 1500, 2},
      {"0.5", 500, 1},
      {".5", 500, 1},
      {"1.", 1000, 1},
      {"1u", 1, 1},
      {"2Ti", 2'199'023'255'552'000, 2'199'023'255'552},
      {"1Ki", 1'024'000, 1024},
      {"1k", 1'000'000, 1000},
      {"1e3", 1'000'000, 1000},
      {"1E3", 1'000'000, 1000},
      {"12e-1", 1200, 2},
      {"1E", std::nullopt, 1'000'000'000'000'000'000},
      {"+3", 3000, 3},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(parse_quantity_milli(c.text), c.milli) << c.text;
    EXPECT_EQ(parse_quantity(c.text), c.whole) << c.text;
  }
}

TEST(Quantity, RefusesWhatIsNone) {
  for (const std::string_view text : {"", "m", "-1", "1 ", " 1", "1Kib", "1e", "1e999", "1.2.3", "0x10", "Gi", "99999999999999999999999999999", "9Ei"}) {
    EXPECT_EQ(parse_quantity_milli(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_quantity("9Ei"), std::nullopt);
}

TEST(Quantity, PrintsBytesWithTheLargestSuffixThatDivides) {
  EXPECT_EQ(format_bytes_quantity(64LL << 30), "64Gi");
  EXPECT_EQ(format_bytes_quantity(1536LL << 20), "1536Mi");
  EXPECT_EQ(format_bytes_quantity(1000), "1000");
  EXPECT_EQ(format_bytes_quantity(0), "0");
}

}  // namespace
}  // namespace verl
