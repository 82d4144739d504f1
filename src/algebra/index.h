#pragma once
// Index nodes: the dimensions that normal forms are about. A root is a class, one letter of an
// einsum; a kernel that splits it makes parts of it: grid (g), loop (f) and tile (t), in that order
// of significance. Used by normal forms (merging complete runs of parts is the whole proof of
// split-K), by the search (which splits symbolically) and by meaning (whose nodes are all roots;
// see unify.h).

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace mirage::algebra {

using Node = uint32_t;
constexpr Node kNoNode = UINT32_MAX;

// Bits of a mask of parts.
constexpr uint8_t kGrid = 1, kLoop = 2, kTile = 4;

struct Parts {
  Node grid = kNoNode;
  Node loop = kNoNode;
  Node tile = kNoNode;
};

/// A variable over a node. Free ones are identified by node and tag (0 in the search; in meaning
/// the position in the flattened dimension list of a value); the arena numbers bound and temporary
/// ones.
struct Var {
  Node node = kNoNode;
  uint32_t id = 0;
  auto operator<=>(const Var&) const = default;

  bool is_free() const { return id < kBoundBit; }
  bool is_bound() const { return (id & kTempBits) == kBoundBit; }
  bool is_temp() const { return (id & kTempBits) == kTempBits; }

  static constexpr uint32_t kBoundBit = 0x80000000u;
  static constexpr uint32_t kTempBits = 0xC0000000u;
};

inline Var free_var(Node node, uint32_t tag = 0) { return {node, tag}; }

class IndexTree {
 public:
  struct Info {
    std::string name;
    int64_t extent = 0;      // 0: symbolic
    Node parent = kNoNode;   // kNoNode: a root
    uint32_t split = 0;      // which split of the parent (slot and mask)
    uint8_t position = 0;    // among the parts of that split, 0 the most significant
    uint8_t part_count = 0;  // of that split
    uint64_t hash = 0;       // of the content: ordinal of the root, path of splits
  };

  Node root(std::string name, int64_t extent = 0);
  /// The parts that kernel `slot` makes of a node; interned, so the same question gives the same
  /// nodes. A mask of one part gives the node itself (the whole is that part).
  Parts split(Node node, uint32_t slot, uint8_t mask);

  const Info& info(Node node) const { return nodes_[node]; }
  size_t size() const { return nodes_.size(); }
  Node root_of(Node node) const;
  bool is_root(Node node) const { return nodes_[node].parent == kNoNode; }
  /// All parts of the split that made this node, most significant first; empty for a root.
  std::span<const Node> siblings(Node node) const;

 private:
  std::vector<Info> nodes_;
  std::unordered_map<uint64_t, std::vector<Node>> splits_;  // (parent, split) -> parts
  uint64_t root_count_ = 0;
};

}  // namespace mirage::algebra
