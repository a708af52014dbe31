#include "transport/scc/core.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/check.h"
#include "transport/scc/chip.h"
#include "transport/scc/chip_state.h"
#include "transport/scc/core_state.h"

namespace ingot::scc::inline transport_scc {

Core::Core(Chip& chip, int id) : chip_(chip), id_(id), state_(std::make_unique<CoreState>(*this, chip.state(), id)) {}
Core::~Core() = default;

const Costs& Core::costs() const { return state_->chip.costs; }
Picoseconds Core::now_ps() const { return state_->clock; }
std::uint64_t Core::now_cycles() const { return costs().to_core_cycles(state_->clock); }
void Core::charge(Picoseconds ps) { state_->charge(ps); }

void Core::sleep(Picoseconds ps) {
  state_->charge(ps);
  state_->counts->idle_ps += ps;
}

// ---- Memory ----

void Core::read(Address from, std::span<std::byte> out) {
  std::byte* to = out.data();
  for (std::size_t left = out.size(); left != 0;) {
    const std::size_t n = std::min(left, kLineBytes - from % kLineBytes);
    state_->next_instruction();
    state_->load(from, to, n);
    from += static_cast<Address>(n);
    to += n;
    left -= n;
  }
}

void Core::write(Address to, std::span<const std::byte> in) {
  const std::byte* from = in.data();
  for (std::size_t left = in.size(); left != 0;) {
    const std::size_t n = std::min(left, kLineBytes - to % kLineBytes);
    state_->next_instruction();
    state_->store(to, from, n, false);
    to += static_cast<Address>(n);
    from += n;
    left -= n;
  }
}

void Core::copy(Address to, Address from, std::size_t bytes) {
  std::byte part[kLineBytes];
  while (bytes != 0) {
    const std::size_t n = std::min({bytes, kLineBytes - to % kLineBytes, kLineBytes - from % kLineBytes});
    state_->next_instruction();
    state_->load(from, part, n);
    state_->store(to, part, n, true);
    to += static_cast<Address>(n);
    from += static_cast<Address>(n);
    bytes -= n;
  }
}

std::span<std::byte> Core::private_memory() { return chip_.private_memory(id_); }

// ---- Caches ----

void Core::invalidate_mpb() {
  state_->next_instruction();
  state_->l1.drop_mpb();
  state_->clock += costs().invalidate;
}

void Core::flush_wcb() {
  state_->next_instruction();
  state_->drain();
}

void Core::flush_caches() {
  state_->next_instruction();
  state_->flush_caches(-1);
}

// ---- Registers ----

bool Core::test_and_set(int core) {
  INGOT_CHECK(is_core(core), "there are 48 test-and-set registers");
  state_->next_instruction();
  if (!state_->access_register(costs().uncached_read, tile_of(core))) return false;
  std::int8_t& holder = state_->chip.test_and_set[static_cast<std::size_t>(core)];
  if (holder >= 0) return false;
  holder = static_cast<std::int8_t>(id_);
  return true;
}

void Core::clear_test_and_set(int core) {
  INGOT_CHECK(is_core(core), "there are 48 test-and-set registers");
  state_->next_instruction();
  if (!state_->access_register(costs().uncached_write, tile_of(core))) return;
  state_->chip.test_and_set[static_cast<std::size_t>(core)] = -1;
  const std::uint64_t key = WatchKey::kRegisters + static_cast<std::uint64_t>(core);
  state_->chip.watchers.for_each(key, key + 1, [&](int watcher, std::uint64_t, std::uint64_t) {
    if (watcher != id_) chip_.core(watcher).state().hit(state_->served_ps);
  });
}

void Core::lock(int core) {
  const std::uint64_t key = WatchKey::kRegisters + static_cast<std::uint64_t>(core);
  const WatchKey watch{key, key + 1};
  state_->poll(std::span<const WatchKey>(&watch, 1), [&] { return test_and_set(core); }, CoreState::kForever, "a lock");
}

std::uint32_t Core::fetch_increment(int counter) {
  INGOT_CHECK(counter >= 0 && counter < 2 * kCores, "the FPGA has 96 counters");
  state_->next_instruction();
  if (!state_->access_fpga(costs().uncached_read)) return 0;
  return state_->chip.counters[static_cast<std::size_t>(counter)]++;
}

void Core::write_counter(int counter, std::uint32_t value) {
  INGOT_CHECK(counter >= 0 && counter < 2 * kCores, "the FPGA has 96 counters");
  state_->next_instruction();
  if (!state_->access_fpga(costs().uncached_write)) return;
  state_->chip.counters[static_cast<std::size_t>(counter)] = value;
}

// ---- Interrupts ----

void Core::interrupt(std::uint64_t targets) {
  INGOT_CHECK((targets >> kCores) == 0, "an interrupt goes to cores 0 to 47");
  state_->next_instruction();
  if (!state_->access_fpga(costs().uncached_write)) return;
  const Picoseconds leaves = state_->served_ps + costs().interrupt_controller + costs().fpga_one_way;
  for (int target = 0; target < kCores; ++target) {
    if ((targets >> target & 1) == 0) continue;
    const Picoseconds arrives = leaves + costs().uncached_write.request[static_cast<std::size_t>(
                                             routers(kFpgaTile, tile_of(target)))];
    CoreState& state = chip_.core(target).state();
    state.chip.scheduler.at(arrives, [&state, arrives, sender = id_] { state.arrive(sender, arrives); });
  }
}

// A core that could not be interrupted has run ahead: what arrived meanwhile is known once the others have caught up.
void Core::on_interrupt(InterruptHandler handler) {
  state_->sync();
  state_->handler = std::move(handler);
  state_->next_instruction();
}
void Core::mask_interrupts() { state_->masked = true; }
void Core::unmask_interrupts() {
  state_->sync();
  state_->masked = false;
  state_->next_instruction();
}
void Core::wait_for_interrupt() { state_->wait_for_interrupt(); }

// ---- Waiting ----

void Core::wait_until(std::span<const Watch> watch, absl::FunctionRef<bool()> check, const char* what) {
  wait_until(watch, check, CoreState::kForever, what);
}

bool Core::wait_until(std::span<const Watch> watch, absl::FunctionRef<bool()> check, Picoseconds deadline_ps,
                      const char* what) {
  absl::InlinedVector<WatchKey, 8> keys;
  for (const Watch& each : watch) {
    const Route& route = state_->routes[static_cast<std::size_t>(lut_entry_of(each.at))];
    const std::uint64_t begin = route.watch_base + (each.at & (kLutEntryBytes - 1));
    keys.push_back({begin, begin + each.bytes});
  }
  return state_->poll(keys, check, std::min(deadline_ps, CoreState::kForever), what);
}

bool Core::poll_again() { return std::exchange(state_->hit_seen, true); }

// ---- Address translation ----

absl::Status Core::set_lut(int entry, LutEntry value) {
  if (auto status = state_->chip.check_lut(*state_, entry, value); !status.ok()) return status;
  state_->next_instruction();
  state_->drain();
  state_->flush_caches(entry);
  if (!state_->access_register(costs().uncached_write, tile_of(id_))) return absl::OkStatus();
  state_->lut[static_cast<std::size_t>(entry)] = value;
  state_->routes[static_cast<std::size_t>(entry)] = state_->chip.route_of(*state_, value);
  return absl::OkStatus();
}

LutEntry Core::lut(int entry) const {
  INGOT_CHECK(entry >= 0 && entry < kLutEntries);
  return state_->lut[static_cast<std::size_t>(entry)];
}

// ---- Trace ----

void Core::trace_begin(const char* name) {
  if (TraceFile* trace = state_->chip.trace.get()) trace->begin(id_, name, state_->clock);
}
void Core::trace_end() {
  if (TraceFile* trace = state_->chip.trace.get()) trace->end(id_, state_->clock);
}

}  // namespace ingot::scc::transport_scc
