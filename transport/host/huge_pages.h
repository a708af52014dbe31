// Whether the kernel gives this process huge pages for memory for which it has asked for them. Thread-safe.
#pragma once

#include <sys/prctl.h>

#include <atomic>

namespace ingot::inline transport_host {

inline std::atomic<bool> huge_pages_forbidden{false};  // by forbid_huge_pages(), in this process

// What the process touches for the first time from now on is in pages of the usual size. Best effort.
inline void forbid_huge_pages() {
  if (::prctl(PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL) != 0) return;  // whoever started the process has
  huge_pages_forbidden = ::prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL) == 0;
}

// Ends that. What was touched meanwhile stays as it is until the kernel collects it. What another program has forbidden
// stays forbidden. Costs a load if there is nothing to end.
inline void allow_huge_pages() {
  if (!huge_pages_forbidden.load(std::memory_order_relaxed) || !huge_pages_forbidden.exchange(false)) return;
  ::prctl(PR_SET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL);
}

}  // namespace ingot::transport_host
