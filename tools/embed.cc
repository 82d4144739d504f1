// embed DIR OUT NAME...: writes the C++ file OUT that defines device_headers() (see
// device/device_headers.h) from the files DIR/NAME.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr const char* kOpen = "R\"mirage_text(";
constexpr const char* kClose = ")mirage_text\"";
constexpr size_t kPiece = 12000;  // compilers may refuse longer literals; neighbours are joined

std::string literal(const std::string& text) {
  std::string out;
  for (size_t at = 0; at == 0 || at < text.size(); at += kPiece) {
    out += "\n    ";
    out += kOpen;
    out += text.substr(at, kPiece);
    out += kClose;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: embed DIR OUT NAME...\n";
    return 2;
  }
  const std::string dir = argv[1];
  std::string rows;
  std::string hashed;
  for (int i = 3; i < argc; ++i) {
    std::ifstream in(dir + "/" + argv[i], std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in || text.str().find(kClose) != std::string::npos) {
      std::cerr << "embed: cannot read or cannot quote " << dir << "/" << argv[i] << "\n";
      return 1;
    }
    const std::string name = std::string("mirage/") + argv[i];
    const std::string bytes = text.str();
    rows.append("    {\"").append(name).append("\"sv,").append(literal(bytes)).append("sv},\n");
    hashed.append(name + '\0').append(std::to_string(bytes.size()) + '\0').append(bytes);
  }
  const XXH128_hash_t hash = XXH3_128bits(hashed.data(), hashed.size());
  char digits[33];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));

  std::ofstream out(argv[2], std::ios::binary);
  out << "// Written by tools/embed.cc.\n#include \"device_headers.h\"\n\n#include <array>\n\n"
      << "namespace mirage {\nnamespace {\nusing namespace std::string_view_literals;\n"
      << "constexpr std::array<DeviceHeader, " << argc - 3 << "> kHeaders = {{\n"
      << rows << "}};\n}  // namespace\n\n"
      << "std::span<const DeviceHeader> device_headers() { return kHeaders; }\n"
      << "std::string_view device_headers_hash() { return \"" << digits << "\"; }\n\n"
      << "}  // namespace mirage\n";
  out.close();
  return out ? 0 : 1;
}
