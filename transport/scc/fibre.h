// A stackful fibre: the program of one simulated core, or the thread's own stack. The only user of Boost.Context.
//
// Fibres of one chip switch directly to one another. Below each stack lies a guard of 256 KiB; a program that reaches it ends
// the process with a sentence that says whose stack it was. Switches are announced to the address sanitizer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace ingot::scc {

class Fibre {
 public:
  Fibre();  // stands for the stack of whoever switches away from it first
  // With a stack of its own, which is memory only where it was used. `number` is for the message of an overflow.
  Fibre(std::size_t stack_bytes, int number);
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;
  ~Fibre();  // REQUIRES: its main has returned, or never began

  // Gives the fibre something to do, beginning with the next switch to it. `main` returns the fibre that goes on when
  // it has ended, and lets no exception out. REQUIRES: the last main has returned.
  void start(std::function<Fibre&()> main);

  // Goes on with `to`; returns when somebody switches back. REQUIRES: *this is running, and `to` is suspended.
  void switch_to(Fibre& to);

  // A hint that somebody is about to switch to this fibre: fetches the end of its stack into the host's caches.
  void prefetch() const {
    for (int line = 0; line < kPrefetchLines; ++line) __builtin_prefetch(stack_end_ + line * 64, 1);
  }

 private:
  struct Stack;
  struct Context;

  const std::unique_ptr<Stack> stack_;      // null: the thread's own
  const std::unique_ptr<Context> context_;

  static constexpr int kPrefetchLines = 12;  // what the frames of an access take
  const char* stack_end_ = nullptr;          // when it last switched away
};

// While it lives, a stack overflow in a fibre of this thread ends the process with a message. May be nested.
class OverflowMessage {
 public:
  OverflowMessage();
  ~OverflowMessage();
  OverflowMessage(const OverflowMessage&) = delete;
  OverflowMessage& operator=(const OverflowMessage&) = delete;

 private:
  bool installed_ = false;
};

}  // namespace ingot::scc
