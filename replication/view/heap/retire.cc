#include "replication/view/heap/retire.h"

#include <array>

#include "replication/view/heap/check.h"
#include "replication/view/heap/classes.h"

namespace ingot::inline replication_view_heap {

bool RetireQueue::append(const Retired& retired, NodeBirth birth) {
  if (scalars_.retire_end % kRetireChunkEntries == 0 && !add_chunk(birth)) return false;
  const auto last = last_chunk();
  if (!last) return false;
  const std::uint64_t at = entry_offset(*last, scalars_.retire_end);
  chain_.store(at, checked_word(at, retired.ref.value() | std::uint64_t{retired.kind} << 32));
  chain_.store(at + kWordBytes, checked_word(at + kWordBytes, retired.batch));
  ++scalars_.retire_end;
  return true;
}

std::optional<Retired> RetireQueue::at(std::size_t index) {
  auto chunk = first_chunk();
  const std::uint64_t entry = scalars_.retire_begin + index;
  const std::uint64_t chunks_on = entry / kRetireChunkEntries - scalars_.retire_begin / kRetireChunkEntries;
  for (std::uint64_t i = 0; chunk && i < chunks_on; ++i) chunk = next_of(*chunk);
  if (!chunk) return std::nullopt;
  const std::uint64_t at = entry_offset(*chunk, entry);
  const auto what = content_of(at, chain_.load(at));
  const auto batch = content_of(at + kWordBytes, chain_.load(at + kWordBytes));
  if (what && batch && *batch != 0) {
    return Retired{HeapRef(static_cast<std::uint32_t>(*what)), static_cast<std::uint16_t>(*what >> 32), *batch};
  }
  damage_.report("an entry of the retire queue", at);
  return std::nullopt;
}

void RetireQueue::pop() {
  ++scalars_.retire_begin;
  if (scalars_.retire_begin % kRetireChunkEntries != 0) return;
  const auto chunk = first_chunk();
  if (!chunk) return;
  const bool last = scalars_.retire_first == scalars_.retire_last;
  const auto next = last ? HeapRef() : next_of(*chunk);
  if (!next) return;
  scalars_.retire_first = next->value();
  if (last) scalars_.retire_last = 0;
  extents_.free(*chunk);
}

std::optional<HeapRef> RetireQueue::chunk_at(std::uint64_t ref) {
  const HeapRef chunk(static_cast<std::uint32_t>(ref));
  const auto place = extents_.place_of(chunk);
  if (place && place->node_class == class_of(kHeapNodeBytesMax)) return chunk;
  damage_.report("the retire queue leads to no chunk", offset_of(chunk));
  return std::nullopt;
}

std::optional<HeapRef> RetireQueue::first_chunk() {
  if (known_first_.value() != scalars_.retire_first || known_first_ == HeapRef()) {
    known_first_ = chunk_at(scalars_.retire_first).value_or(HeapRef());
  }
  return known_first_ == HeapRef() ? std::nullopt : std::optional(known_first_);
}

std::optional<HeapRef> RetireQueue::last_chunk() {
  if (known_last_.value() != scalars_.retire_last || known_last_ == HeapRef()) {
    known_last_ = chunk_at(scalars_.retire_last).value_or(HeapRef());
  }
  return known_last_ == HeapRef() ? std::nullopt : std::optional(known_last_);
}

std::optional<HeapRef> RetireQueue::next_of(HeapRef chunk) {
  const auto next = content_of(content_offset(chunk), chain_.load(content_offset(chunk)));
  return chunk_at(next.value_or(0));
}

bool RetireQueue::add_chunk(NodeBirth birth) {
  const auto chunk = extents_.allocate(kHeapNodeBytesMax);
  if (!chunk) return false;
  const std::array<std::uint64_t, 2> content{};
  write_node(chain_, *chunk, {.kind = kRetireChunkKind}, birth, content, {});
  if (scalars_.retire_last == 0) {
    scalars_.retire_first = chunk->value();
  } else {
    const auto last = last_chunk();
    if (!last) return false;
    const std::uint64_t next = content_offset(*last);
    chain_.store(next, checked_word(next, chunk->value()));
  }
  scalars_.retire_last = chunk->value();
  return true;
}

}  // namespace ingot::replication_view_heap
