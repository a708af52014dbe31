// A set of endpoints by number, in one word: replicas of a group and, in the transport, the front end and clients, too.
#pragma once

#include <bit>
#include <cstdint>

#include "core/check.h"
#include "core/types.h"

namespace ingot::inline core {

// A regular value. Bit n stands for endpoint n; messages and pages carry bits(). Querying a number out of range is
// allowed (no set contains it); inserting one is a bug (CHECK).
class ReplicaSet {
 public:
  static constexpr int kCapacity = 64;  // numbers are below it, since the word has no more bits

  constexpr ReplicaSet() = default;

  static constexpr ReplicaSet of(int endpoint) {
    ReplicaSet set;
    set.insert(endpoint);
    return set;
  }
  static constexpr ReplicaSet of(EndpointId endpoint) { return of(endpoint.value()); }
  // Endpoints 0 .. count - 1.
  // REQUIRES: 0 <= count <= kCapacity.
  static constexpr ReplicaSet first(int count) {
    INGOT_CHECK(count >= 0 && count <= kCapacity, "a set has a bit for each endpoint");
    return from_bits(count == kCapacity ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1);
  }
  static constexpr ReplicaSet from_bits(std::uint64_t bits) {
    ReplicaSet set;
    set.bits_ = bits;
    return set;
  }

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool contains(int endpoint) const { return in_range(endpoint) && (bits_ >> endpoint & 1) != 0; }
  constexpr bool contains(EndpointId endpoint) const { return contains(endpoint.value()); }
  // True if every member of `other` is also in this set.
  constexpr bool contains_all(ReplicaSet other) const { return (other.bits_ & ~bits_) == 0; }

  constexpr void insert(int endpoint) {
    INGOT_CHECK(in_range(endpoint), "a set has a bit for each endpoint");
    bits_ |= std::uint64_t{1} << endpoint;
  }
  constexpr void insert(EndpointId endpoint) { insert(endpoint.value()); }
  constexpr void erase(int endpoint) {
    if (in_range(endpoint)) bits_ &= ~(std::uint64_t{1} << endpoint);
  }
  constexpr void erase(EndpointId endpoint) { erase(endpoint.value()); }
  constexpr void clear() { bits_ = 0; }

  constexpr bool operator==(const ReplicaSet&) const = default;
  constexpr ReplicaSet operator|(ReplicaSet other) const { return from_bits(bits_ | other.bits_); }
  constexpr ReplicaSet operator&(ReplicaSet other) const { return from_bits(bits_ & other.bits_); }
  constexpr ReplicaSet operator-(ReplicaSet other) const { return from_bits(bits_ & ~other.bits_); }
  constexpr ReplicaSet& operator|=(ReplicaSet other) { return *this = *this | other; }
  constexpr ReplicaSet& operator&=(ReplicaSet other) { return *this = *this & other; }
  constexpr ReplicaSet& operator-=(ReplicaSet other) { return *this = *this - other; }

  // Members in ascending order. The set may change meanwhile: an iterator has its own copy.
  class Iterator {
   public:
    constexpr explicit Iterator(std::uint64_t left) : left_(left) {}
    constexpr EndpointId operator*() const { return EndpointId(static_cast<std::uint16_t>(std::countr_zero(left_))); }
    constexpr Iterator& operator++() {
      left_ &= left_ - 1;
      return *this;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    std::uint64_t left_;
  };
  constexpr Iterator begin() const { return Iterator(bits_); }
  constexpr Iterator end() const { return Iterator(0); }

 private:
  static constexpr bool in_range(int endpoint) { return endpoint >= 0 && endpoint < kCapacity; }

  std::uint64_t bits_ = 0;
};

}  // namespace ingot::core
