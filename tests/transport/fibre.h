// A stackful fibre for tests: one core of a simulated machine. Switches are announced to the address sanitizer.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace ingot::test {

class Fibre {
 public:
  // `main` returns, and throws no exception.
  explicit Fibre(std::function<void()> main) : main_(std::move(main)), stack_(new std::byte[kStackBytes]) {
    ::getcontext(&own_);
    own_.uc_stack.ss_sp = stack_.get();
    own_.uc_stack.ss_size = kStackBytes;
    own_.uc_link = nullptr;
    ::makecontext(&own_, reinterpret_cast<void (*)()>(&Fibre::enter), 0);
  }
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  // Runs the fibre until it calls leave() or ends. Called from the thread's own stack. REQUIRES: !done().
  void resume() {
    current() = this;
    before_switch(&outer_fake_, stack_.get(), kStackBytes);
    ::swapcontext(&outer_, &own_);
    after_switch(outer_fake_);
  }

  // Called within the fibre: returns to the caller of resume().
  void leave() {
    before_switch(&own_fake_, outer_stack_, outer_bytes_);
    ::swapcontext(&own_, &outer_);
    after_switch(own_fake_);
  }

  bool done() const { return done_; }

 private:
  static constexpr std::size_t kStackBytes = 128 * 1024;

  static Fibre*& current() {
    static Fibre* fibre = nullptr;
    return fibre;
  }

  static void enter() {
    Fibre* self = current();
    self->learn_outer_stack();
    self->main_();
    self->done_ = true;
    before_switch(nullptr, self->outer_stack_, self->outer_bytes_);
    ::setcontext(&self->outer_);
  }

#if defined(__SANITIZE_ADDRESS__)
  static void before_switch(void** fake, const void* stack, std::size_t bytes) {
    __sanitizer_start_switch_fiber(fake, stack, bytes);
  }
  static void after_switch(void* fake) { __sanitizer_finish_switch_fiber(fake, nullptr, nullptr); }
  void learn_outer_stack() { __sanitizer_finish_switch_fiber(nullptr, &outer_stack_, &outer_bytes_); }
#else
  static void before_switch(void**, const void*, std::size_t) {}
  static void after_switch(void*) {}
  void learn_outer_stack() {}
#endif

  std::function<void()> main_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t own_{};
  ucontext_t outer_{};
  void* own_fake_ = nullptr;
  void* outer_fake_ = nullptr;
  const void* outer_stack_ = nullptr;
  std::size_t outer_bytes_ = 0;
  bool done_ = false;
};

}  // namespace ingot::test
