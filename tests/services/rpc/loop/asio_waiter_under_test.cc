#include <boost/asio/io_context.hpp>
#include <utility>

#include "services/rpc/loop/asio_waiter.h"
#include "tests/transport/host/waiter_under_test.h"

namespace ingot::testing {
namespace {

// With a context of its own, which outlives the waiter.
class WithContext final : public Waiter {
 public:
  void watch(int fd, std::function<void()> readable) override { waiter_.watch(fd, std::move(readable)); }
  void unwatch(int fd) override { waiter_.unwatch(fd); }
  bool wait(std::uint64_t timeout_ns) override { return waiter_.wait(timeout_ns); }
  void dispatch() override { waiter_.dispatch(); }

 private:
  boost::asio::io_context io_{1};
  rpc::AsioWaiter waiter_{io_};
};

}  // namespace

std::unique_ptr<Waiter> waiter_under_test() { return std::make_unique<WithContext>(); }

}  // namespace ingot::testing
