// The store in runs with kills (tests/replication/view/heap/killed_run.h).
#pragma once

#include "tests/replication/view/heap/killed_run.h"

namespace ingot::test {

RunResult run_store(const RunOptions& options);

}  // namespace ingot::test
