#include "npy.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "command.h"
#include "ir/element.h"

namespace mirage::cli {
namespace {

using ir::DType;

struct NumpyType {
  DType dtype;
  std::string_view code;  // without byte order
};
constexpr NumpyType kTypes[] = {{DType::F64, "f8"}, {DType::F32, "f4"}, {DType::F16, "f2"},
                                {DType::I64, "i8"}, {DType::I32, "i4"}, {DType::I16, "i2"},
                                {DType::I8, "i1"},  {DType::U64, "u8"}, {DType::U32, "u4"},
                                {DType::U16, "u2"}, {DType::U8, "u1"},  {DType::Bool, "b1"}};

constexpr std::string_view kMagic = "\x93NUMPY";

struct Header {
  DType dtype;
  bool is_fortran;
  ir::Shape shape;
};

/// The text after `'key':` of the header's dictionary.
std::optional<std::string_view> field(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

Result<Header> parse_header(const std::string& path, std::string_view text) {
  const auto descr = field(text, "descr"), order = field(text, "fortran_order"),
             shape = field(text, "shape");
  if (!descr || !order || !shape || descr->size() < 6 || shape->empty() || shape->front() != '(')
    return bad_input("{}: not an array file: no descr, fortran_order and shape", path);
  const std::string_view code = descr->substr(1, 3);
  if (code[0] == '>') return bad_input("{}: big-endian arrays are not read, found {}", path, code);
  Header header{DType::F32, order->starts_with("True"), {}};
  bool is_known = false;
  for (const NumpyType& type : kTypes)
    if (type.code == code.substr(1)) {
      header.dtype = type.dtype;
      is_known = true;
    }
  if (!is_known || (*descr)[0] != '\'')
    return bad_input("{}: unknown element type {}", path, descr->substr(0, 8));
  int64_t extent = -1;
  for (char letter : shape->substr(1)) {
    if (letter >= '0' && letter <= '9') {
      extent = std::max<int64_t>(extent, 0) * 10 + (letter - '0');
      if (extent > (int64_t{1} << 48)) return bad_input("{}: an extent is too large", path);
    } else if (letter == ',' || letter == ')') {
      if (extent >= 0) header.shape.push_back(extent);
      extent = -1;
      if (letter == ')') return header;
    } else if (letter != ' ') {
      break;
    }
  }
  return bad_input("{}: not an array file: shape", path);
}

}  // namespace

Result<void> read_npy(const std::string& path, const std::string& input, tune::HostTensor& tensor) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::Io, "{}: cannot be read", path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < 12 || !bytes.starts_with(kMagic))
    return bad_input("{}: not an array file", path);
  const bool is_long = bytes[6] != 1;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, is_long ? 4 : 2);
  const size_t start = is_long ? 12 : 10;
  if (length > bytes.size() - start) return bad_input("{}: truncated header", path);
  MIRAGE_TRY(const Header header,
             parse_header(path, std::string_view(bytes).substr(start, length)));
  const ir::TensorType& type = tensor.type();
  if (header.shape != type.shape)
    return bad_input("{}: input {} has shape {}, found {}", path, input, ir::to_string(type.shape),
                     ir::to_string(header.shape));
  const auto is_float = [](DType dtype) { return ir::class_of(dtype) == ir::DTypeClass::Float; };
  if (header.dtype != type.dtype && !(is_float(header.dtype) && is_float(type.dtype)))
    return bad_input("{}: input {} has type {}, found {}", path, input, ir::name_of(type.dtype),
                     ir::name_of(header.dtype));
  const auto size = static_cast<size_t>(ir::bytes_of(header.dtype));
  const auto count = static_cast<size_t>(ir::element_count(type.shape));
  if ((bytes.size() - start - length) / size < count)
    return bad_input("{}: truncated: expected {} elements", path, count);
  ir::Strides strides = ir::row_major_strides(type.shape);
  if (header.is_fortran) {
    int64_t stride = 1;
    for (size_t axis = 0; axis < strides.size(); ++axis) {
      strides[axis] = stride;
      stride *= type.shape[axis];
    }
  }
  const char* data = bytes.data() + start + length;
  std::vector<double> values;
  values.reserve(count);
  tune::for_each_offset(type.shape, strides, [&](int64_t offset) {
    values.push_back(ir::load_element(header.dtype, data + static_cast<size_t>(offset) * size));
  });
  tensor.assign(values);
  return {};
}

Result<void> write_npy(const std::string& path, const tune::HostTensor& tensor) {
  NumpyType out{DType::F32, "f4"};
  for (const NumpyType& type : kTypes)
    if (type.dtype == tensor.type().dtype) out = type;
  std::string shape;
  for (int64_t extent : tensor.type().shape) shape += fmt::format("{},", extent);
  const char order = ir::bytes_of(out.dtype) == 1 ? '|' : '<';
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   order, out.code, shape);
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes{kMagic};
  bytes += std::string_view("\1\0", 2);
  const auto length = static_cast<uint16_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), 2);
  bytes += header;
  const auto size = static_cast<size_t>(ir::bytes_of(out.dtype));
  for (double value : tensor.to_doubles()) {
    char raw[8];
    ir::store_element(out.dtype, raw, value);
    bytes.append(raw, size);
  }
  return write_file(path, bytes);
}

}  // namespace mirage::cli
