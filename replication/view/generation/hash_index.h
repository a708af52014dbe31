// The writer's side of the hash index: buckets of seven words that change in place, and lead to each key's newest
// version.
//
// A key's word stays where it is from its first version until its deletion has left the log and no root reaches it; so
// a reader of a root finds the key there, or a mark that is above the root.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "replication/view/generation/nodes.h"

namespace ingot::inline replication_view_generation {

// Where a key's word is; version 0: there is none.
struct TableSlot {
  std::uint64_t word = 0;
  NodeRef version = 0;
};

// Not thread-safe. One writer.
class HashIndex {
 public:
  // REQUIRES: bits <= kTableBitsMax. Without space: at() is 0.
  HashIndex(Nodes& nodes, std::uint8_t bits);
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  NodeRef at() const { return at_; }
  std::uint8_t bits() const { return bits_; }

  TableSlot find(std::uint32_t tag, std::string_view key) const;
  // The word that leads to just this version, of which nothing is read.
  TableSlot find_version(std::uint32_t tag, NodeRef version) const;
  // False: there is no space, or too many keys fall into one chain of buckets. REQUIRES: find() found none.
  bool insert(std::uint32_t tag, NodeRef version);
  // REQUIRES: find() found the slot since the last change.
  void replace(const TableSlot& slot, std::uint32_t tag, NodeRef version) { set(slot.word, two_halves(version, tag)); }
  void erase(const TableSlot& slot);

  // Before an insert: copies all words into twice as many buckets, for the next root, if these are crowded and there is
  // space. Without space the buckets' chains become longer.
  void grow_if_crowded();
  // There was no space the last time that it was to grow.
  bool cramped() const { return cramped_; }

 private:
  template <typename Fits>
  TableSlot find_if(std::uint32_t tag, const Fits& fits) const;
  bool crowded() const;
  bool copy_to(HashIndex& next) const;
  void give_back();
  void set(std::uint64_t word, std::uint64_t entry);
  NodeRef bucket_of(std::uint32_t tag) const {
    return at_ + static_cast<NodeRef>(tag & ((std::uint64_t{1} << bits_) - 1));
  }

  Nodes& nodes_;
  std::uint8_t bits_;
  NodeRef at_;
  std::uint64_t entries_ = 0;
  bool cramped_ = false;
  std::uint64_t try_at_ = 0;  // cramped: entries with which growing is tried again
  std::vector<NodeRef> chained_;  // buckets behind the first ones
};

}  // namespace ingot::replication_view_generation
