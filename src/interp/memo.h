#pragma once
// Elements that were computed on demand, kept in small pages: memory grows with what was asked for.

#include <array>
#include <memory>
#include <unordered_map>

#include "interp/domain_f64.h"

namespace mirage::interp {

class Memo {
 public:
  const WideF64* find(int64_t index) {
    const Page* page = page_of(index / kPage);
    const size_t at = static_cast<size_t>(index % kPage);
    return page && ((page->known >> at) & 1) != 0 ? &page->values[at] : nullptr;
  }
  void insert(int64_t index, const WideF64& value) {
    const int64_t number = index / kPage;
    Page* page = page_of(number);
    if (!page) {
      std::unique_ptr<Page>& slot = pages_[number];
      slot = std::make_unique<Page>();
      last_ = page = slot.get();
      last_number_ = number;
    }
    const size_t at = static_cast<size_t>(index % kPage);
    page->values[at] = value;
    page->known |= uint32_t{1} << at;
  }

 private:
  static constexpr int64_t kPage = 16;
  struct Page {
    uint32_t known = 0;
    std::array<WideF64, kPage> values;
  };

  Page* page_of(int64_t number) {
    if (number == last_number_) return last_;
    const auto found = pages_.find(number);
    if (found == pages_.end()) return nullptr;
    last_number_ = number;
    return last_ = found->second.get();
  }

  std::unordered_map<int64_t, std::unique_ptr<Page>> pages_;  // looked up only, never iterated
  int64_t last_number_ = -1;
  Page* last_ = nullptr;
};

}  // namespace mirage::interp
