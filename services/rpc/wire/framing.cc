#include "services/rpc/wire/framing.h"

#include <algorithm>

namespace ingot::rpc::inline wire {

Prefix message_prefix(std::size_t bytes, bool compressed) {
  return {static_cast<char>(compressed ? 1 : 0), static_cast<char>(bytes >> 24 & 0xff),
          static_cast<char>(bytes >> 16 & 0xff), static_cast<char>(bytes >> 8 & 0xff), static_cast<char>(bytes & 0xff)};
}

// Returns whether the prefix is complete.
bool MessageReader::read_prefix(std::string_view& bytes) {
  const std::size_t taken = std::min(kPrefixBytes - prefix_read_, bytes.size());
  std::copy_n(bytes.data(), taken, prefix_.data() + prefix_read_);
  prefix_read_ += taken;
  bytes.remove_prefix(taken);
  if (prefix_read_ < kPrefixBytes) return false;
  announced_ = 0;
  for (std::size_t i = 1; i < kPrefixBytes; ++i) announced_ = announced_ << 8 | static_cast<unsigned char>(prefix_[i]);
  return true;
}

MessageReader::Result MessageReader::read(std::string_view& bytes) {
  if (delivered_) {
    kept_.clear();
    delivered_ = false;
  }
  message_ = {};
  if (prefix_read_ < kPrefixBytes) {
    if (bytes.empty() || !read_prefix(bytes)) return Result::kMore;
  }
  if (prefix_[0] != 0 && prefix_[0] != 1) return Result::kMalformed;
  if (announced_ > message_bytes_max_) return Result::kTooLarge;
  compressed_ = prefix_[0] == 1;
  const std::size_t missing = announced_ - kept_.size();
  if (bytes.size() < missing) {
    // A long message gets its room at once: by doubling, the smaller buffers before it would be left as holes.
    if (kept_.size() + bytes.size() > kReserveBytes) kept_.reserve(announced_);
    kept_.append(bytes);
    bytes = {};
    return Result::kMore;
  }
  if (kept_.empty()) {
    message_ = bytes.substr(0, missing);
  } else {
    kept_.append(bytes.substr(0, missing));
    message_ = kept_;
    delivered_ = true;
  }
  bytes.remove_prefix(missing);
  prefix_read_ = 0;
  return Result::kMessage;
}

void MessageReader::reset(std::size_t message_bytes_max, std::size_t capacity_bytes) {
  std::string kept;
  if (kept_.capacity() <= capacity_bytes) kept.swap(kept_);
  kept.clear();
  free_memory(kept_);
  *this = MessageReader(message_bytes_max);
  kept_.swap(kept);
}

}  // namespace ingot::rpc::wire
