#include "transport/scc/fibre.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "core/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace ingot::scc::inline transport_scc {
namespace {

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

// Address space only. A frame larger than the guard may step over it: one page was not enough for a function whose
// inlined callees had several buffers of a kilobyte each.
constexpr std::size_t kGuardBytes = 256 * 1024;

// ---- Guards, which the signal handler looks up without locks ----

struct Guard {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::size_t> stack_bytes{0};
  std::atomic<int> number{0};
};
constexpr std::size_t kGuardsMax = 1024;  // stacks of all chips in a process; overflows of further ones have no message
std::array<Guard, kGuardsMax> guards;

Guard* take_guard(std::uintptr_t begin, std::size_t stack_bytes, int number) {
  for (Guard& guard : guards) {
    std::uintptr_t none = 0;
    if (!guard.begin.compare_exchange_strong(none, begin)) continue;
    guard.stack_bytes = stack_bytes;
    guard.number = number;
    return &guard;
  }
  return nullptr;
}

struct sigaction previous_action;  // the previous handler of SIGSEGV

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const Guard& guard : guards) {
    const std::uintptr_t begin = guard.begin.load();
    if (begin == 0 || at < begin || at >= begin + kGuardBytes) continue;
    char text[160];
    const int length = std::snprintf(text, sizeof text,
                                     "the program on core %d of the simulated chip overflowed its stack of %zu bytes: "
                                     "raise ChipOptions::stack_bytes\n",
                                     guard.number.load(), guard.stack_bytes.load());
    static_cast<void>(!::write(STDERR_FILENO, text, static_cast<std::size_t>(length)));
    ::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) return previous_action.sa_sigaction(signal, info, context);
  // Lets the access fault again, with the previous handler.
  ::sigaction(SIGSEGV, &previous_action, nullptr);
}

// Installed again by each OverflowMessage, since other code installs handlers, too.
void install_handler() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  struct sigaction present {};
  INGOT_CHECK(::sigaction(SIGSEGV, nullptr, &present) == 0);
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_fault) return;
  previous_action = present;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  INGOT_CHECK(::sigaction(SIGSEGV, &action, nullptr) == 0);
}

// The handler needs a stack of its own.
constexpr std::size_t kSignalStackBytes = 64 * 1024;

}  // namespace

OverflowMessage::OverflowMessage() {
  install_handler();
  stack_t present{};
  INGOT_CHECK(::sigaltstack(nullptr, &present) == 0);
  if ((present.ss_flags & SS_DISABLE) == 0) return;  // the thread has one already
  thread_local const std::unique_ptr<std::byte[]> memory(new std::byte[kSignalStackBytes]);
  stack_t own{};
  own.ss_sp = memory.get();
  own.ss_size = kSignalStackBytes;
  INGOT_CHECK(::sigaltstack(&own, nullptr) == 0);
  installed_ = true;
}

OverflowMessage::~OverflowMessage() {
  if (!installed_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

// ---- Stacks ----

namespace {

// The address sanitizer remembers the frames of a fibre that never ended, even after its memory is mapped again.
void forget_frames([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
#endif
}

}  // namespace

struct Fibre::Stack {
  Stack(std::size_t wanted_bytes, int number)
      : bytes((wanted_bytes + page_bytes() - 1) / page_bytes() * page_bytes()) {
    memory = ::mmap(nullptr, kGuardBytes + bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    INGOT_CHECK(memory != MAP_FAILED, "no memory for a fibre's stack");
    INGOT_CHECK(::mprotect(memory, kGuardBytes, PROT_NONE) == 0);
    guard = take_guard(reinterpret_cast<std::uintptr_t>(memory), bytes, number);
  }
  ~Stack() {
    if (guard != nullptr) guard->begin.store(0);
    forget_frames(memory, kGuardBytes + bytes);
    ::munmap(memory, kGuardBytes + bytes);
  }

  std::byte* bottom() const { return static_cast<std::byte*>(memory) + kGuardBytes; }

  const std::size_t bytes;
  void* memory = nullptr;
  Guard* guard = nullptr;
};

struct Fibre::Context {
  boost::context::fiber suspended;  // while it does not run
  Fibre* resumed_by = nullptr;
  void* fake_stack = nullptr;       // of the address sanitizer
  const void* bottom = nullptr;     // the thread's own stack, for the sanitizer
  std::size_t bytes = 0;
};

namespace {

#if defined(__SANITIZE_ADDRESS__)
void announce(void** fake, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
}
void arrived(void* fake, const void** old_bottom, std::size_t* old_bytes) {
  __sanitizer_finish_switch_fiber(fake, old_bottom, old_bytes);
}
#else
void announce(void**, const void*, std::size_t) {}
void arrived(void*, const void**, std::size_t*) {}
#endif

// The stack is the fibre's, not the context's.
template <typename Stack>
struct Borrowed {
  Stack* stack;
  boost::context::stack_context allocate() const {
    boost::context::stack_context context;
    context.size = stack->bytes;
    context.sp = stack->bottom() + stack->bytes;
    return context;
  }
  void deallocate(boost::context::stack_context&) const noexcept {}
};

}  // namespace

Fibre::Fibre() : context_(std::make_unique<Context>()) {}

Fibre::Fibre(std::size_t stack_bytes, int number)
    : stack_(std::make_unique<Stack>(stack_bytes, number)), context_(std::make_unique<Context>()) {
  context_->bottom = stack_->bottom();
  context_->bytes = stack_->bytes;
}

Fibre::~Fibre() = default;

void Fibre::start(std::function<Fibre&()> main) {
  INGOT_CHECK(stack_ != nullptr && !context_->suspended, "a fibre does one thing at a time");
  const auto enter = [this, main = std::move(main)](boost::context::fiber&& from) noexcept {
    Context& by = *context_->resumed_by->context_;
    arrived(nullptr, &by.bottom, &by.bytes);
    by.suspended = std::move(from);
    Context& next = *main().context_;
    next.resumed_by = this;
    announce(nullptr, next.bottom, next.bytes);
    return std::move(next.suspended);
  };
  context_->suspended = boost::context::fiber(std::allocator_arg, Borrowed<Stack>{stack_.get()}, enter);
}

void Fibre::switch_to(Fibre& to) {
  Context& own = *context_;
  Context& next = *to.context_;
  next.resumed_by = this;
  stack_end_ = static_cast<const char*>(__builtin_frame_address(0)) - 128;
  announce(&own.fake_stack, next.bottom, next.bytes);
  boost::context::fiber from = std::move(next.suspended).resume();
  Context& by = *own.resumed_by->context_;
  arrived(own.fake_stack, &by.bottom, &by.bytes);
  by.suspended = std::move(from);
}

}  // namespace ingot::scc::transport_scc
