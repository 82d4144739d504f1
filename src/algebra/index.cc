#include "algebra/index.h"

#include <bit>

#include "util/check.h"

namespace mirage::algebra {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x7f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t key_of(Node node, uint32_t split) { return (uint64_t{node} << 32) | split; }

}  // namespace

Node IndexTree::root(std::string name, int64_t extent) {
  Info info;
  info.name = std::move(name);
  info.extent = extent;
  info.hash = mixed(0x51ed, ++root_count_);
  nodes_.push_back(std::move(info));
  return static_cast<Node>(nodes_.size() - 1);
}

Parts IndexTree::split(Node node, uint32_t slot, uint8_t mask) {
  MIRAGE_CHECK(mask > 0 && mask < 8, "a split has between one and three parts");
  MIRAGE_CHECK(slot < (1u << 28), "kernel slot out of range");
  Parts parts;
  Node* const wanted[] = {&parts.grid, &parts.loop, &parts.tile};
  if (std::has_single_bit(mask)) {
    *wanted[std::countr_zero(mask)] = node;
    return parts;
  }
  const uint32_t split = (slot << 3) | mask;
  std::vector<Node>& children = splits_[key_of(node, split)];
  if (children.empty()) {
    constexpr char kLetters[] = {'g', 'f', 't'};
    const uint8_t count = static_cast<uint8_t>(std::popcount(mask));
    uint8_t position = 0;
    for (size_t i = 0; i < 3; ++i) {
      if (!((mask >> i) & 1)) continue;
      Info info;
      info.name = nodes_[node].name + "." + kLetters[i];
      if (slot > 0) info.name += std::to_string(slot);
      info.parent = node;
      info.split = split;
      info.position = position++;
      info.part_count = count;
      info.hash = mixed(mixed(nodes_[node].hash, split), i + 1);
      nodes_.push_back(std::move(info));
      children.push_back(static_cast<Node>(nodes_.size() - 1));
    }
  }
  size_t next = 0;
  for (size_t i = 0; i < 3; ++i)
    if ((mask >> i) & 1) *wanted[i] = children[next++];
  return parts;
}

Node IndexTree::root_of(Node node) const {
  while (nodes_[node].parent != kNoNode) node = nodes_[node].parent;
  return node;
}

std::span<const Node> IndexTree::siblings(Node node) const {
  const Info& info = nodes_[node];
  if (info.parent == kNoNode) return {};
  return splits_.at(key_of(info.parent, info.split));
}

}  // namespace mirage::algebra
