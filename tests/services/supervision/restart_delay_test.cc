#include "services/supervision/restart_delay.h"

#include <catch2/catch.hpp>
#include <vector>

namespace ingot {
namespace {

TEST_CASE("the first restart has no delay, and later delays double up to a limit") {
  RestartDelay delay;
  std::vector<int> delays_ms;
  for (int i = 0; i < 9; ++i) delays_ms.push_back(delay.next_ms(0));
  CHECK(delays_ms == std::vector<int>{0, 100, 200, 400, 800, 1600, 3200, 5000, 5000});
}

TEST_CASE("a process that has lived for kRestartForgetMs is restarted at once") {
  RestartDelay delay;
  for (int i = 0; i < 5; ++i) (void)delay.next_ms(0);
  CHECK(delay.next_ms(kRestartForgetMs - 1) == 1600);
  CHECK(delay.next_ms(kRestartForgetMs) == 0);
  CHECK(delay.next_ms(0) == 100);
}

}  // namespace
}  // namespace ingot
