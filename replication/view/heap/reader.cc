#include "replication/view/heap/reader.h"

#include "core/rule.h"
#include "replication/view/heap/check.h"

namespace ingot::inline replication_view_heap {

absl::StatusOr<HeapReader> HeapReader::open(std::span<const std::byte> memory, const HeapIdentity& identity) {
  const Chain chain(memory);
  if (auto status = check_identity(chain, identity); !status.ok()) return status;
  return HeapReader(chain);
}

std::optional<HeapRoot> HeapReader::begin() {
  const auto incarnation = read_counter(chain_, kIncarnationOffset);
  if (!incarnation || (*incarnation % 2 != 0 && INGOT_RULE("odd-waits"))) return std::nullopt;
  incarnation_ = *incarnation;
  for (int i = 0; i < kRootReadsMax; ++i) {
    const auto number = read_counter(chain_, kNumberOffset);
    if (!number || *number == 0) return std::nullopt;
    number_ = *number;
    if (auto root = RootCells(chain_).read(*number)) return root;
  }
  return std::nullopt;
}

// What was copied is older than these two loads: each load has the order acquire.
bool HeapReader::counts() const {
  const auto mark = read_counter(chain_, kMarkOffset);
  const auto incarnation = read_counter(chain_, kIncarnationOffset);
  const bool not_reused = (mark && *mark <= number_) || !INGOT_RULE("mark-checked");
  const bool not_put_back = (incarnation && *incarnation == incarnation_) || !INGOT_RULE("incarnation-checked");
  return not_reused && not_put_back;
}

std::optional<std::uint64_t> HeapReader::content(std::uint64_t offset) const {
  if (offset % kWordBytes != 0 || !chain_.holds(offset, 1)) return std::nullopt;
  return content_of(offset, chain_.load(offset));
}

bool HeapReader::copy(HeapRef ref, std::span<std::uint64_t> node) const {
  if (offset_of(ref) < first_offset_ || !chain_.holds(offset_of(ref), node.size())) return false;
  chain_.load_words(offset_of(ref), node);
  return true;
}

}  // namespace ingot::replication_view_heap
