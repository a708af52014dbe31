#include "transport/scc/rcce/gory.h"

#include "core/check.h"

namespace ingot::scc::inline transport_scc_rcce {
namespace {

void check_range(std::size_t line, std::size_t bytes) {
  INGOT_CHECK(line * kLineBytes + bytes <= kMpbBytesPerCore, "a core's half of an MPB has 8 KiB");
}

}  // namespace

void write_flag(Core& core, MpbFlag flag, std::uint32_t value, int at_core) {
  core.charge(core.costs().put_mpb_call);
  core.store(mpb_line(at_core, flag.line), value);
  core.flush_wcb();
}

std::uint32_t read_flag(Core& core, MpbFlag flag, int at_core) {
  core.invalidate_mpb();
  return core.load<std::uint32_t>(mpb_line(at_core, flag.line));
}

void wait_flag(Core& core, MpbFlag flag, std::uint32_t value, const char* what) {
  core.wait_value<std::uint32_t>(mpb_line(core.id(), flag.line), [value](std::uint32_t v) { return v == value; }, what);
}

void wait_flag_reached(Core& core, MpbFlag flag, std::uint32_t value, const char* what) {
  core.wait_value<std::uint32_t>(
      mpb_line(core.id(), flag.line), [value](std::uint32_t v) { return static_cast<std::int32_t>(v - value) >= 0; },
      what);
}

void put(Core& core, int to_core, std::size_t to_line, Address from, std::size_t bytes) {
  check_range(to_line, bytes);
  core.charge(core.costs().put_memory_call);
  core.invalidate_mpb();
  core.copy(mpb_line(to_core, to_line), from, bytes);
  core.flush_wcb();
}

void get(Core& core, Address to, int from_core, std::size_t from_line, std::size_t bytes) {
  check_range(from_line, bytes);
  core.charge(core.costs().get_memory_call);
  core.invalidate_mpb();
  core.copy(to, mpb_line(from_core, from_line), bytes);
}

void get_to_mpb(Core& core, std::size_t to_line, int from_core, std::size_t from_line, std::size_t bytes) {
  check_range(from_line, bytes);
  check_range(to_line, bytes);
  core.charge(core.costs().get_mpb_call);
  core.invalidate_mpb();
  core.copy(mpb_line(core.id(), to_line), mpb_line(from_core, from_line), lines_of(bytes) * kLineBytes);
  core.flush_wcb();
}

void barrier(Core& core, const Group& group) {
  const int first = group.core(0);
  const MpbFlag here{kBarrierHereLine}, go{kBarrierGoLine};
  const std::uint32_t round = read_flag(core, here, core.id()) + 1;
  write_flag(core, here, round, core.id());
  if (core.id() != first) return wait_flag(core, go, round, "the barrier");
  for (const int other : group.cores()) {
    core.wait_value<std::uint32_t>(
        mpb_line(other, here.line), [round](std::uint32_t v) { return v == round; }, "others at the barrier");
  }
  for (const int other : group.cores()) {
    if (other != first) write_flag(core, go, round, other);
  }
}

std::optional<MpbBlock> RcceGory::allocate(std::size_t bytes) {
  INGOT_CHECK(bytes > 0, "an empty block needs no place");
  const std::size_t lines = lines_of(bytes);
  std::size_t free = 0;
  for (std::size_t line = 0; line < kGoryLines; ++line) {
    free = used_[line] ? 0 : free + 1;
    if (free < lines) continue;
    const std::size_t first = line + 1 - lines;
    for (std::size_t i = first; i <= line; ++i) used_.set(i);
    return MpbBlock{first, lines};
  }
  return std::nullopt;
}

std::optional<MpbFlag> RcceGory::allocate_flag() {
  const auto block = allocate(kLineBytes);
  if (!block.has_value()) return std::nullopt;
  return MpbFlag{block->line};
}

void RcceGory::release(MpbBlock block) {
  for (std::size_t i = block.line; i < block.line + block.lines; ++i) {
    INGOT_CHECK(i < kGoryLines && used_[i], "released what was not allocated");
    used_.reset(i);
  }
}

}  // namespace ingot::scc::transport_scc_rcce
