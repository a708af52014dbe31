// The small store on a heap (heap_store.h) in runs with kills.
#pragma once

#include "tests/replication/view/heap/killed_run.h"

namespace ingot::test {

RunResult run_heap(const RunOptions& options);

}  // namespace ingot::test
