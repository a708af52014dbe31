// A stackful fibre: the program of one simulated core, or the thread's own stack. The only user of Boost.Context.
//
// Fibres of one chip switch directly to each other. Below each stack is a guard of 256 KiB. A program that reaches it
// ends the process with a sentence that names the stack's owner. Switches are announced to the address sanitizer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ingot::scc::inline transport_scc {

class Fibre {
 public:
  Fibre();  // represents the stack that first switches away from it
  // With its own stack, which uses memory only where it is touched. `number` appears in the message of an overflow.
  Fibre(std::size_t stack_bytes, int number);
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();  // REQUIRES: its main has returned, or never started

  // Sets the function that runs from the next switch on. `main` returns the fibre that continues after its end, and
  // lets no exception out.
  // REQUIRES: the last main has returned.
  void start(std::function<Fibre&()> main);

  // Continues with `to`; returns when a fibre switches back.
  // REQUIRES: *this is running, and `to` is suspended.
  void switch_to(Fibre& to);

  // A hint that a switch to this fibre is near: fetches the end of its stack into the host's caches.
  void prefetch() const {
    for (int line = 0; line < kPrefetchLines; ++line) __builtin_prefetch(stack_end_ + line * 64, 1);
  }

 private:
  struct Stack;
  struct Context;

  const std::unique_ptr<Stack> stack_;      // null: the thread's own
  const std::unique_ptr<Context> context_;

  static constexpr int kPrefetchLines = 12;  // the size of an access's frames
  const char* stack_end_ = nullptr;          // when it last switched away
};

// During its lifetime, a stack overflow in a fibre of this thread ends the process with a message. May be nested.
class OverflowMessage {
 public:
  OverflowMessage();
  ~OverflowMessage();
  OverflowMessage(const OverflowMessage&) = delete;
  OverflowMessage& operator=(const OverflowMessage&) = delete;

 private:
  bool installed_ = false;
};

}  // namespace ingot::scc::transport_scc
