// What a process has been told of its instance.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"

namespace ingot::inline services_handover {

// The supervisor keeps it for each process, and sends the rest (Instance::tell). In this way a process that does not
// read for a while misses nothing that still matters, and nothing is kept for it.
struct Told {
  std::vector<std::uint32_t> incarnations;  // by replica, then of front end and publisher: the newest
  std::vector<std::uint64_t> releases;      // by replica: as the Instance counts them; 0: none
  Slot snapshot;                            // slots below it are in the newest snapshot
  std::uint32_t binding = 0;                // of the Unix socket
};

}  // namespace ingot::services_handover
