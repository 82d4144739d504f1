#include "device_headers.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace mirage {
namespace {

TEST(DeviceHeaders, AreTheFilesOfTheFolder) {
  std::set<std::string_view> names;
  for (const DeviceHeader& header : device_headers()) {
    SCOPED_TRACE(header.name);
    EXPECT_TRUE(names.insert(header.name).second) << "listed twice";
    ASSERT_EQ(header.name.substr(0, 7), "mirage/");
    std::ifstream file(MIRAGE_SOURCE_DIR "/device/" + std::string(header.name.substr(7)));
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(header.text, text.str());
  }
}

TEST(DeviceHeaders, HashIsThirtyTwoHexadecimalDigits) {
  EXPECT_EQ(device_headers_hash().size(), 32u);
  EXPECT_EQ(device_headers_hash().find_first_not_of("0123456789abcdef"), std::string_view::npos);
}

}  // namespace
}  // namespace mirage
