// The waiter with which event_loop_test.cc is linked.
#pragma once

#include <memory>

#include "transport/host/waiter.h"

namespace ingot::testing {

std::unique_ptr<Waiter> waiter_under_test();

}  // namespace ingot::testing
