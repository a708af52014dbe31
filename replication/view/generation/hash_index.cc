#include "replication/view/generation/hash_index.h"

#include <utility>

#include "core/rule.h"

namespace ingot::inline replication_view_generation {
namespace {

constexpr std::uint64_t kTryAgainShare = 8;  // a table that could not grow tries again with so much more in it

// Of zeros, which memory that is used again does not have.
NodeRef new_buckets(Nodes& nodes, std::uint64_t buckets) {
  const NodeRef at = nodes.try_allocate(buckets * kUnitWords);
  for (std::uint64_t word = 0; at != 0 && word < buckets * kUnitWords; ++word) nodes.store(word_of(at) + word, 0);
  return at;
}

}  // namespace

HashIndex::HashIndex(Nodes& nodes, std::uint8_t bits)
    : nodes_(nodes), bits_(bits), at_(new_buckets(nodes, std::uint64_t{1} << bits)) {}

template <typename Fits>
TableSlot HashIndex::find_if(std::uint32_t tag, const Fits& fits) const {
  for (NodeRef bucket = bucket_of(tag); bucket != 0;) {
    const std::uint64_t* const words = nodes_.at(bucket);
    for (std::uint64_t i = 0; i < kBucketEntries; ++i) {
      if (words[i] == 0 || high_half(words[i]) != tag) continue;
      if (fits(low_half(words[i]))) return {word_of(bucket) + i, low_half(words[i])};
    }
    bucket = low_half(words[kBucketEntries]);
  }
  return {};
}

TableSlot HashIndex::find(std::uint32_t tag, std::string_view key) const {
  return find_if(tag, [&](NodeRef version) { return nodes_.key_of(version) == key; });
}

TableSlot HashIndex::find_version(std::uint32_t tag, NodeRef version) const {
  return find_if(tag, [&](NodeRef found) { return found == version; });
}

bool HashIndex::insert(std::uint32_t tag, NodeRef version) {
  NodeRef bucket = bucket_of(tag);
  for (std::size_t chained = 0;; ++chained) {
    const std::uint64_t* const words = nodes_.at(bucket);
    for (std::uint64_t i = 0; i < kBucketEntries; ++i) {
      if (words[i] != 0) continue;
      set(word_of(bucket) + i, two_halves(version, tag));
      ++entries_;
      return true;
    }
    if (chained == kBucketChainMax) return false;
    if (words[kBucketEntries] == 0) {
      const NodeRef next = new_buckets(nodes_, 1);
      if (next == 0) return false;
      chained_.push_back(next);
      set(word_of(bucket) + kBucketEntries, next);
    }
    bucket = low_half(nodes_.at(bucket)[kBucketEntries]);
  }
}

// Release: who sees the word finds the node that it leads to (ReadSource::load).
void HashIndex::set(std::uint64_t word, std::uint64_t entry) {
  nodes_.store(word, entry, INGOT_RULE("links-release") ? std::memory_order_release : std::memory_order_relaxed);
}

void HashIndex::erase(const TableSlot& slot) {
  set(slot.word, 0);
  --entries_;
}

bool HashIndex::crowded() const {
  return bits_ < kTableBitsMax && entries_ >= kBucketLoadMax << bits_ && (!cramped_ || entries_ >= try_at_);
}

// Readers of older roots use the buckets of before, which change no more.
void HashIndex::grow_if_crowded() {
  if (!crowded()) return;
  HashIndex next(nodes_, static_cast<std::uint8_t>(bits_ + 1));
  cramped_ = next.at_ == 0 || !copy_to(next);
  if (cramped_) {
    try_at_ = entries_ + entries_ / kTryAgainShare + 1;
    next.give_back();
    return;
  }
  for (const NodeRef bucket : chained_) nodes_.retire(bucket, kUnitWords);
  nodes_.retire(at_, kUnitWords << bits_);
  bits_ = next.bits_;
  at_ = next.at_;
  chained_ = std::move(next.chained_);
}

// No root has led to these buckets.
void HashIndex::give_back() {
  for (const NodeRef bucket : chained_) nodes_.give_back(bucket, kUnitWords);
  if (at_ != 0) nodes_.give_back(at_, kUnitWords << bits_);
}

bool HashIndex::copy_to(HashIndex& next) const {
  const std::uint64_t buckets = std::uint64_t{1} << bits_;
  for (std::uint64_t first = 0; first < buckets; ++first) {
    for (NodeRef bucket = at_ + static_cast<NodeRef>(first); bucket != 0;) {
      const std::uint64_t* const words = nodes_.at(bucket);
      for (std::uint64_t i = 0; i < kBucketEntries; ++i) {
        if (words[i] != 0 && !next.insert(high_half(words[i]), low_half(words[i]))) return false;
      }
      bucket = low_half(words[kBucketEntries]);
    }
  }
  return true;
}

}  // namespace ingot::replication_view_generation
