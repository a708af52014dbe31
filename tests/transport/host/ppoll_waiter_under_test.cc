#include "tests/transport/host/waiter_under_test.h"

namespace ingot::testing {

std::unique_ptr<Waiter> waiter_under_test() { return std::make_unique<PpollWaiter>(); }

}  // namespace ingot::testing
