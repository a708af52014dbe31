// The chip as a Memory (transport/memory.h): inboxes are MPB-typed lines, so the memory orders are the coherence.
//
//   relaxed load   may hit a stale line in L1
//   acquire        drops MPB-typed lines from L1, then loads: what comes later is fetched anew
//   relaxed store  may stay in the write-combining buffer
//   release        all earlier stores are sent before it; then the store itself is sent. If the buffer already
//                  holds the same line, both leave as one packet
//
// A byte store is a masked line on the mesh, so it disturbs no neighbour. The ticket is one of the FPGA's counters: one
// access, and a core that dies cannot hold it. With a test-and-set register a draw is four accesses, and a core that
// dies between them blocks the inbox (docs/design/scc-software.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/types.h"
#include "transport/memory.h"
#include "transport/scc/core.h"

namespace ingot::scc::inline transport_scc {

// The place of an endpoint's inbox: MPB-typed lines, in an MPB or in shared memory of that type.
struct Inbox {
  Address base = 0;  // of line 0; a multiple of kLineBytes
  std::uint32_t lines = 0;
  int counter = 0;  // FPGA counter of its ticket
  int core = 0;     // whose test-and-set register guards its ticket, if that is used
};

enum class TicketKind : std::uint8_t { kCounter, kTestAndSet };

// One endpoint's view. Used on the fibre of its core only.
class SccMemory {
 public:
  static constexpr std::size_t kLineBytes = scc::kLineBytes;
  using Line = Address;

  // `inboxes` by endpoint. `weakened`, for tests: the site whose order is taken away.
  SccMemory(Core& core, EndpointId self, std::vector<Inbox> inboxes, TicketKind tickets = TicketKind::kCounter,
            Site weakened = Site::kCount)
      : core_(&core), self_(self), inboxes_(std::move(inboxes)), tickets_(tickets), weakened_(weakened) {}

  std::uint32_t inbox_lines(EndpointId inbox) const { return inboxes_[inbox.value()].lines; }
  Line line(EndpointId inbox, std::uint32_t index) const {
    return inboxes_[inbox.value()].base + static_cast<Address>(index * kLineBytes);
  }

  Word load_word(Line line, std::uint32_t i, Site site) { return load<Word>(line + 4 * i, site); }
  void store_word(Line line, std::uint32_t i, Word v, Site site) { store<Word>(line + 4 * i, v, site); }
  std::uint8_t load_byte(Line line, std::uint32_t i, Site site) { return load<std::uint8_t>(line + i, site); }
  void store_byte(Line line, std::uint32_t i, std::uint8_t v, Site site) { store<std::uint8_t>(line + i, v, site); }

  void read_line(Line line, std::byte* out, Site site) {
    if (order(site) == Order::kAcquire) core_->invalidate_mpb();
    core_->read(line, {out, kLineBytes});
  }

  void copy_in(Line line, std::uint32_t offset, std::span<const std::byte> in) { core_->write(line + offset, in); }
  void copy_out(Line line, std::uint32_t offset, std::byte* out, std::size_t bytes) {
    core_->read(line + offset, {out, bytes});
  }

  Word draw(Line line, Site acquire, Site release) {
    if (order(release) == Order::kRelease) core_->flush_wcb();
    const Inbox& inbox = inbox_of(line);
    const Word ticket =
        tickets_ == TicketKind::kCounter ? core_->fetch_increment(inbox.counter) : locked_draw(line, inbox);
    if (order(acquire) == Order::kAcquire) core_->invalidate_mpb();
    return ticket;
  }

  void store_load_fence() {
    core_->flush_wcb();
    core_->invalidate_mpb();
  }
  void prefetch(Line) {}  // no gain: a core has one access at a time

  EndpointId self() const { return self_; }
  Cycles now() const { return Cycles(core_->now_cycles()); }

 private:
  Order order(Site site) const { return site == weakened_ ? Order::kRelaxed : order_of(site); }

  template <typename T>
  T load(Address at, Site site) {
    if (order(site) == Order::kAcquire) core_->invalidate_mpb();
    return core_->load<T>(at);
  }
  template <typename T>
  void store(Address at, T v, Site site) {
    core_->store(at, v);  // sends another line in the buffer first
    if (order(site) == Order::kRelease) core_->flush_wcb();
  }

  Word locked_draw(Line line, const Inbox& inbox) {
    core_->lock(inbox.core);
    core_->invalidate_mpb();
    const Word ticket = core_->load<Word>(line);
    core_->store<Word>(line, ticket + 1);
    core_->flush_wcb();
    core_->unlock(inbox.core);
    return ticket;
  }

  const Inbox& inbox_of(Line line) const {
    std::size_t i = 0;
    while (line < inboxes_[i].base || line >= inboxes_[i].base + inboxes_[i].lines * kLineBytes) ++i;
    return inboxes_[i];
  }

  Core* core_;
  EndpointId self_;
  std::vector<Inbox> inboxes_;
  TicketKind tickets_;
  Site weakened_;
};

static_assert(Memory<SccMemory>);

}  // namespace ingot::scc::transport_scc
