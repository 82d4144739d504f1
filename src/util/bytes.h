#pragma once
// Values as bytes and back, for processes of one build that talk to each other. Numbers, enums and
// plain structs go as they lie in memory, strings and vectors with their length; a struct with such
// members has a function `fields(archive, value)` beside it, which names them once for both ways:
//
//   template <class Archive, Either<Argument> T>
//   void fields(Archive& archive, T& value) { archive(value.name, value.dtype, value.shape); }

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "util/result.h"

namespace mirage {

/// T or const T.
template <class Given, class T>
concept Either = std::same_as<std::remove_const_t<Given>, T>;

class Packer {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  /// As they are, without their number.
  void raw(const void* bytes, size_t count) {
    bytes_.append(static_cast<const char*>(bytes), count);
  }
  std::string take() { return std::move(bytes_); }

 private:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { raw(&value, sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    bytes_.append(text);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    if constexpr (std::is_trivially_copyable_v<T>)
      raw(values.data(), values.size() * sizeof(T));
    else
      for (const T& value : values) put(value);
  }
  template <class T>
  requires(!std::is_trivially_copyable_v<T>) void put(const T& value) { fields(*this, value); }

  std::string bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Whether the bytes were enough and all of them were used. Values that had none are empty.
  bool is_done() const { return !is_short_ && rest_.empty(); }

  void raw(void* bytes, size_t count) {
    if (const char* from = next(count)) std::memcpy(bytes, from, count);
  }

 private:
  const char* next(size_t bytes) {
    if (bytes > rest_.size()) {
      is_short_ = true;
      rest_ = {};
      return nullptr;
    }
    const char* const here = rest_.data();
    rest_.remove_prefix(bytes);
    return here;
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { raw(&value, sizeof value); }
  void get(std::string& text) {
    size_t size = 0;
    get(size);
    if (const char* from = next(size)) text.assign(from, size);
  }
  template <class T>
  void get(std::vector<T>& values) {
    size_t size = 0;
    get(size);
    if constexpr (std::is_trivially_copyable_v<T>) {
      if (size > rest_.size() / sizeof(T)) size = rest_.size() / sizeof(T) + 1;  // too many: short
      if (const char* from = next(size * sizeof(T))) {
        values.resize(size);
        if (size > 0) std::memcpy(values.data(), from, size * sizeof(T));
      }
    } else {
      values.clear();
      for (size_t i = 0; i < size && !is_short_; ++i) get(values.emplace_back());
    }
  }
  template <class T>
  requires(!std::is_trivially_copyable_v<T>) void get(T& value) { fields(*this, value); }

  std::string_view rest_;
  bool is_short_ = false;
};

template <class Archive, Either<Error> T>
void fields(Archive& archive, T& value) {
  archive(value.code, value.message, value.notes);
}

}  // namespace mirage
