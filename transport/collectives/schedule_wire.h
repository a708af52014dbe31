// The first eight bytes of each message between progress engines, as one little-endian word:
//
//   bits  0..7    class: ScheduleClass; other first bytes than MessageClass (replication/agreement/agreement.h)
//         8..23   group
//        24..39   tag: which message of the operation from the one endpoint to the other; 0 in kStarted
//        40..63   sequence: number of the operation in its group, modulo 2^24
//
// kData: the payload follows. The sender has started operation `sequence` and all before it. kStarted: the sender has
// started every operation of the group before `sequence`. Nothing follows.
//
// A payload may be offered for a copy in place of being sent (transport/direct_copy.h). kOffer: like kData, but a
// PayloadOffer follows. The receiver answers with the same group, tag and sequence; nothing follows. kTaken: it does not
// need the payload any more. kRefused: it cannot copy from this sender; send this payload, and all others. kWithdrawn:
// the offer's epoch was over; offer it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/types.h"
#include "core/wire.h"
#include "transport/collectives/schedule_limits.h"

namespace ingot::inline transport_collectives {

// The id of endpoints that run operations together, below kGroupIdsMax. They agree on the number, on the members and on
// the order in which operations start. A retired number is not used again.
using GroupId = Id<struct GroupTag, std::uint16_t>;

enum class ScheduleClass : std::uint8_t {
  kData = 0x40,
  kStarted = 0x41,
  kOffer = 0x44,
  kTaken = 0x45,
  kRefused = 0x46,
  kWithdrawn = 0x47,
};

constexpr bool is_schedule_class(std::byte first) {
  const auto value = static_cast<std::uint8_t>(first);
  return value == 0x40 || value == 0x41 || (value >= 0x44 && value <= 0x47);
}

// Number of an operation in its group, modulo 2^24. Two compared numbers are less than 2^23 apart, which the windows of
// schedule_limits.h ensure.
class OperationSequence {
 public:
  constexpr OperationSequence() = default;
  constexpr explicit OperationSequence(std::uint32_t value) : value_(value & kMask) {}

  constexpr std::uint32_t value() const { return value_; }
  constexpr OperationSequence next() const { return OperationSequence(value_ + 1); }
  constexpr bool operator==(const OperationSequence&) const = default;

  // How many operations this one comes after `other`; negative if before.
  constexpr std::int32_t after(OperationSequence other) const {
    return static_cast<std::int32_t>((value_ - other.value_) << 8) >> 8;
  }

 private:
  static constexpr std::uint32_t kMask = 0xff'ffff;
  std::uint32_t value_ = 0;
};

struct ScheduleHeader {
  ScheduleClass message_class = ScheduleClass::kData;
  GroupId group{};
  std::uint16_t tag = 0;
  OperationSequence sequence{};

  constexpr std::uint64_t encode() const {
    return std::uint64_t{static_cast<std::uint8_t>(message_class)} | std::uint64_t{group.value()} << 8 |
           std::uint64_t{tag} << 24 | std::uint64_t{sequence.value()} << 40;
  }

  // REQUIRES: message.size() >= kScheduleHeaderBytes. The class may be any byte.
  static ScheduleHeader decode(std::span<const std::byte> message) {
    std::uint64_t word;
    std::memcpy(&word, message.data(), sizeof word);
    return decode(word);
  }
  static constexpr ScheduleHeader decode(std::uint64_t word) {
    return {static_cast<ScheduleClass>(word & 0xff), GroupId(static_cast<std::uint16_t>(word >> 8)),
            static_cast<std::uint16_t>(word >> 24), OperationSequence(static_cast<std::uint32_t>(word >> 40))};
  }
};

static_assert(kScheduleHeaderBytes == sizeof(std::uint64_t));
static_assert(OperationSequence(2).after(OperationSequence(0xff'fffe)) == 4);

}  // namespace ingot::transport_collectives
