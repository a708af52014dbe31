#include "replication/view/handle/fork_mark.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/check.h"

namespace ingot::inline replication_view_handle {
namespace {

using Word = std::atomic<std::uint64_t>;

constinit std::atomic<Word*> page{nullptr};  // without a lock, which a forked child might find locked

Word* wiped_page() {
  if (Word* const there = page.load(std::memory_order_acquire)) return there;
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  INGOT_CHECK(mapped != MAP_FAILED, "a process can have one page more");
  INGOT_CHECK(::madvise(mapped, bytes, MADV_WIPEONFORK) == 0, "Linux 4.14 has it");
  Word* expected = nullptr;
  auto* const word = static_cast<Word*>(mapped);
  if (page.compare_exchange_strong(expected, word, std::memory_order_acq_rel)) return word;
  ::munmap(mapped, bytes);
  return expected;
}

// Of this process: no ancestor has had it, since all of them have drawn theirs earlier.
std::uint64_t fresh_token() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec)) | 1;
}

std::uint64_t token_of(Word& word) {
  std::uint64_t token = 0;
  return word.compare_exchange_strong(token, fresh_token(), std::memory_order_relaxed)
             ? word.load(std::memory_order_relaxed)
             : token;
}

}  // namespace

ForkMark::ForkMark() : word_(wiped_page()), seen_(token_of(*word_)) {}

bool ForkMark::enter() {
  const std::uint64_t token = token_of(*word_);
  const bool other = token != seen_;
  seen_ = token;
  return other;
}

}  // namespace ingot::replication_view_handle
