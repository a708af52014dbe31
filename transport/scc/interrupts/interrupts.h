// Interrupts between cores for programs in user space: send to one or to many, mask, handle.
//
// On the chip a kernel module turns the interrupt into a signal, whose cost is a constant of the chip
// (interrupt_core_cycles). One request reaches any number of cores at the cost of one: the global interrupt controller
// takes a bit mask of targets (papers, sections 2 and 5).
//
// Requests to a core with a pending one are merged: a handler gets the set of requesting cores since its last run, not
// how often. So a sender writes the request's content to memory before it sends.
//
// One object a core, used by that core's program and by its handler.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "core/check.h"
#include "transport/scc/core.h"

namespace ingot::scc::inline transport_scc_interrupts {

// A set of cores, bit i for core i.
using CoreSet = std::uint64_t;
constexpr CoreSet core_set(std::span<const int> cores) {
  CoreSet set = 0;
  for (const int core : cores) set |= CoreSet{1} << core;
  return set;
}

class Interrupts {
 public:
  // Called on the core's own stack between two instructions, with the requesting cores. It is not interrupted itself.
  using Handler = Core::InterruptHandler;

  // Takes interrupts that are pending already, too. The object must live until the program ends.
  Interrupts(Core& core, Handler handler) : core_(core), handler_(std::move(handler)) { attach(); }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // A core forgets its handler when its program ends: call this at the start of the next program.
  void attach() { core_.on_interrupt(handler_); }

  void send(int to_core) { core_.interrupt(CoreSet{1} << to_core); }
  void send(CoreSet to_cores) {
    if (to_cores != 0) core_.interrupt(to_cores);
  }

  // While a Mask exists, interrupts stay pending. Masks nest.
  class Mask {
   public:
    explicit Mask(Interrupts& interrupts) : interrupts_(interrupts) {
      if (interrupts_.masks_++ == 0) interrupts_.core_.mask_interrupts();
    }
    ~Mask() {
      if (--interrupts_.masks_ == 0) interrupts_.core_.unmask_interrupts();
    }
    Mask(const Mask&) = delete;
    Mask& operator=(const Mask&) = delete;

   private:
    Interrupts& interrupts_;
  };

  // Halts until at least one interrupt was handled.
  // REQUIRES: no Mask exists.
  void wait() {
    INGOT_CHECK(masks_ == 0, "who masks interrupts would wait for ever");
    core_.wait_for_interrupt();
  }

 private:
  Core& core_;
  const Handler handler_;
  int masks_ = 0;
};

}  // namespace ingot::scc::transport_scc_interrupts
