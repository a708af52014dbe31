// How a core's loads and stores reach memory, by type of memory.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/check.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/core.h"
#include "transport/scc/core_state.h"

namespace ingot::scc::inline transport_scc {
namespace {

constexpr std::size_t kWordBytes = 4;
constexpr Address kOffsetMask = kLutEntryBytes - 1;

constexpr Address line_of(Address address) { return address & ~static_cast<Address>(kLineBytes - 1); }
constexpr std::size_t words_of(std::size_t bytes) { return (bytes + kWordBytes - 1) / kWordBytes; }
constexpr std::uint32_t mask_of(std::size_t offset, std::size_t bytes) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << bytes) - 1) << offset);
}

// memcpy of up to a line, without a call for the usual sizes.
void copy_part(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == kLineBytes) {
    std::memcpy(to, from, kLineBytes);
  } else if (bytes == kWordBytes) {
    std::memcpy(to, from, kWordBytes);
  } else {
    std::memcpy(to, from, bytes);
  }
}

[[noreturn]] void bad_address(int core, Address address) {
  std::fprintf(stderr, "core %d: nothing is mapped at address 0x%08x\n", core, address);
  std::abort();
}

}  // namespace

Route& CoreState::route_at(Address address, std::size_t bytes) {
  Route& route = routes[static_cast<std::size_t>(lut_entry_of(address))];
  if ((address & kOffsetMask) + bytes > route.size) [[unlikely]] bad_address(id, address);
  return route;
}

void CoreState::load(Address from, std::byte* out, std::size_t bytes) {
  const Route& route = route_at(from, bytes);
  ++counts->accesses;
  switch (route.type) {
    case MemoryType::kMpbTyped: load_mpb_typed(route, from, out, bytes); break;
    case MemoryType::kUncached: load_uncached(route, from, out, bytes); break;
    case MemoryType::kCached:
      fetch_cached(route, line_number(from));
      copy_part(out, route.bytes + (from & kOffsetMask), bytes);
      break;
    case MemoryType::kNone: bad_address(id, from);
  }
  clock += chip.costs.copy_words[words_of(bytes)];
}

void CoreState::store(Address to, const std::byte* in, std::size_t bytes, bool allocate) {
  const Route& route = route_at(to, bytes);
  ++counts->accesses;
  clock += chip.costs.copy_words[words_of(bytes)];
  if (unwinding) return;
  switch (route.type) {
    case MemoryType::kMpbTyped: store_mpb_typed(to, in, bytes); break;
    case MemoryType::kUncached: store_uncached(route, to, in, bytes); break;
    case MemoryType::kCached: store_cached(route, to, in, bytes, allocate); break;
    case MemoryType::kNone: bad_address(id, to);
  }
}

// ---- MPB-typed ----

void CoreState::load_mpb_typed(const Route& route, Address from, std::byte* out, std::size_t bytes) {
  const LineNumber number = line_number(from);
  const std::byte* line = l1.find_mpb(number);
  if (line == nullptr) {
    // This core's own stores to that line must reach memory before the line is loaded from there.
    if (!buffer.empty() && buffer.line == line_of(from)) drain();
    const bool mpb = route.target == LutEntry::Target::kMpb;
    if (!access(route, mpb ? chip.costs.mpb_read : chip.costs.memory, mpb ? Access::kMpbRead : Access::kMemoryRead)) {
      std::memset(out, 0, bytes);
      return;
    }
    LineNumber evicted = 0;
    bool evicted_dirty = false;
    const int place = l1.take(number, true, evicted, evicted_dirty);
    std::memcpy(l1.bytes(place), route.bytes + (line_of(from) & kOffsetMask), kLineBytes);
    line = l1.bytes(place);
    if (evicted_dirty) leave_l1(evicted);
  }
  copy_part(out, line + from % kLineBytes, bytes);
}

void CoreState::store_mpb_typed(Address to, const std::byte* in, std::size_t bytes) {
  if (!buffer.empty() && buffer.line != line_of(to)) drain();
  buffer.line = line_of(to);
  const std::size_t offset = to % kLineBytes;
  copy_part(buffer.bytes.data() + offset, in, bytes);
  buffer.mask |= mask_of(offset, bytes);
  if (std::byte* copy = l1.find_mpb(line_number(to)); copy != nullptr) copy_part(copy + offset, in, bytes);
  if (buffer.mask == WriteCombiningBuffer::kFull) drain();
}

void CoreState::drain() {
  if (buffer.empty() || unwinding) return;
  write_line(routes[static_cast<std::size_t>(lut_entry_of(buffer.line))], buffer);
  buffer.mask = 0;
}

void CoreState::write_line(const Route& route, const WriteCombiningBuffer& line) {
  const bool mpb = route.target == LutEntry::Target::kMpb;
  if (mpb && chip.costs.posted_writes) return post(route, line, chip.costs.posted_mpb, Access::kMpbWrite);
  if (access(route, mpb ? chip.costs.mpb_write : chip.costs.memory, mpb ? Access::kMpbWrite : Access::kMemoryWrite)) {
    apply(route, line, served_ps);
  }
}

// WGR: the core continues after the issue; the line arrives later.
void CoreState::post(const Route& route, const WriteCombiningBuffer& line, const PostedWrite& cost, Access kind) {
  if (unwinding) return;
  wait_for_gap();
  const Picoseconds from = clock;
  begin_access(chip.costs.mpb_write, route.routers);
  const Picoseconds arrival = clock;
  clock = from + cost.issue;
  next_access_ps = from + std::max(cost.gap[route.routers], arrival - from);
  record(kind, from);
  ++chip.statistics.tile_to_tile[static_cast<std::size_t>(tile)][route.server];
  chip.scheduler.at(arrival, [this, route, line, arrival] {
    const Picoseconds served = route.port->serve(arrival);
    next_access_ps += served - arrival;
    apply(route, line, served);
  });
}

// The stored bytes reach memory, and the line's watchers are woken.
void CoreState::apply(const Route& route, const WriteCombiningBuffer& line, Picoseconds when) {
  const Address offset = line.line & kOffsetMask;
  std::byte* to = route.bytes + offset;
  if (line.mask == WriteCombiningBuffer::kFull) {
    std::memcpy(to, line.bytes.data(), kLineBytes);
  } else {
    for (std::uint32_t rest = line.mask; rest != 0; rest &= rest - 1) {
      const int i = std::countr_zero(rest);
      to[i] = line.bytes[static_cast<std::size_t>(i)];
    }
  }
  const std::uint64_t begin = route.watch_base + offset;
  chip.watchers.for_each(begin, begin + kLineBytes, [&](int watcher, std::uint64_t from, std::uint64_t to_end) {
    const auto first = static_cast<std::size_t>(std::max(from, begin) - begin);
    const auto bytes = static_cast<std::size_t>(std::min(to_end, begin + kLineBytes) - begin) - first;
    if (watcher != id && (line.mask & mask_of(first, bytes)) != 0) {
      chip.cores[static_cast<std::size_t>(watcher)]->state().hit(when);
    }
  });
}

// ---- Uncached: word by word ----

void CoreState::load_uncached(const Route& route, Address from, std::byte* out, std::size_t bytes) {
  const bool mpb = route.target == LutEntry::Target::kMpb;
  while (bytes != 0) {
    const std::size_t n = std::min(bytes, kWordBytes - from % kWordBytes);
    if (!access(route, mpb ? chip.costs.uncached_read : chip.costs.memory,
                mpb ? Access::kMpbWordRead : Access::kMemoryRead)) {
      std::memset(out, 0, bytes);
      return;
    }
    std::memcpy(out, route.bytes + (from & kOffsetMask), n);
    from += static_cast<Address>(n);
    out += n;
    bytes -= n;
  }
}

void CoreState::store_uncached(const Route& route, Address to, const std::byte* in, std::size_t bytes) {
  const bool mpb = route.target == LutEntry::Target::kMpb;
  while (bytes != 0) {
    const std::size_t n = std::min(bytes, kWordBytes - to % kWordBytes);
    WriteCombiningBuffer word;
    word.line = line_of(to);
    word.mask = mask_of(to % kLineBytes, n);
    std::memcpy(word.bytes.data() + to % kLineBytes, in, n);
    if (mpb && chip.costs.posted_writes) {
      post(route, word, chip.costs.posted_uncached, Access::kMpbWordWrite);
    } else if (access(route, mpb ? chip.costs.uncached_write : chip.costs.memory,
                      mpb ? Access::kMpbWordWrite : Access::kMemoryWrite)) {
      apply(route, word, served_ps);
    } else {
      return;
    }
    to += static_cast<Address>(n);
    in += n;
    bytes -= n;
  }
}

// ---- Cached: tags here, bytes in DRAM ----

int CoreState::fetch_cached(const Route& route, LineNumber line) {
  if (const int place = l1.find(line); place != L1::kMiss) return place;
  clock += chip.costs.l2;
  if (l2.find(line) == L1::kMiss) {
    if (!access(route, chip.costs.memory, Access::kMemoryRead)) return 0;
    LineNumber evicted = 0;
    if (l2.take(line, evicted)) write_back(evicted);
  }
  LineNumber evicted = 0;
  bool evicted_dirty = false;
  const int place = l1.take(line, false, evicted, evicted_dirty);
  if (evicted_dirty) leave_l1(evicted);
  return place;
}

void CoreState::store_cached(const Route& route, Address to, const std::byte* in, std::size_t bytes, bool allocate) {
  const LineNumber line = line_number(to);
  int place = allocate ? fetch_cached(route, line) : l1.find(line);
  if (unwinding) return;
  copy_part(route.bytes + (to & kOffsetMask), in, bytes);
  if (place != L1::kMiss) return l1.set_dirty(place);
  clock += chip.costs.l2;
  if (place = l2.find(line); place != L1::kMiss) return l2.set_dirty(place);
  for (std::size_t words = words_of(bytes); words != 0; --words) {
    if (!access(route, chip.costs.memory, Access::kMemoryWrite)) return;
  }
}

void CoreState::leave_l1(LineNumber dirty) {
  if (const int place = l2.find(dirty); place != L1::kMiss) return l2.set_dirty(place);
  write_back(dirty);
}

void CoreState::write_back(LineNumber line) {
  const Route& route = routes[static_cast<std::size_t>(lut_entry_of(static_cast<Address>(line * kLineBytes)))];
  if (access(route, chip.costs.memory, Access::kWriteBack)) clock += chip.costs.write_back;
}

void CoreState::flush_caches(int entry) {
  const auto chosen = [entry](LineNumber line) {
    return entry < 0 || lut_entry_of(static_cast<Address>(line * kLineBytes)) == entry;
  };
  std::vector<LineNumber> dirty;
  l1.drop_if(chosen, [&](LineNumber line) {
    if (const int place = l2.find(line); place != L1::kMiss) return l2.set_dirty(place);
    dirty.push_back(line);
  });
  l2.drop_if(chosen, [&](LineNumber line) { dirty.push_back(line); });
  for (const LineNumber line : dirty) write_back(line);
}

}  // namespace ingot::scc::transport_scc
