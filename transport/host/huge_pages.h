// Whether the kernel gives this process huge pages for memory for which it has asked for them.
#pragma once

#include <sys/prctl.h>

namespace ingot::inline transport_host {

// What the process touches for the first time from now on is in pages of the usual size. Best effort.
inline void forbid_huge_pages() { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }

// Ends that. What was touched meanwhile stays as it is until the kernel collects it. Cheap to repeat.
inline void allow_huge_pages() { ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0); }

}  // namespace ingot::transport_host
