// A publisher over real stores, its socket, and a reader of its view, in one process.
#include "services/view/publisher/publisher.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replication/store/gauges.h"
#include "replication/view/handle/handle.h"
#include "replication/view/tickets/connect.h"
#include "services/sockets/unix_listener.h"
#include "services/view/tickets/server.h"
#include "tests/services/sockets/short_folder.h"
#include "tests/services/watch/hub_world.h"
#include "transport/host/event_loop.h"

namespace ingot {
namespace {

constexpr std::uint64_t kIdentity = 4711;
constexpr std::uint64_t kMsNs = 1'000'000;

// The loop runs in turns with the test.
class World : public Pollable {
 public:
  World() {
    store.faults = false;
    auto bound = UnixListener::bind(path, SocketRights{});
    REQUIRE(bound.ok());
    listener_ = *std::move(bound);
    view_.replicas = {replica_page.get()};
  }

  void put(const std::string& key, const std::string& value, std::int64_t lease = 0) {
    kv::PutRequest request;
    request.key = key;
    request.value = value;
    request.lease = lease;
    store.write(kv::Request(std::move(request)));
  }
  void apply_all() {
    store.pump(false);
    publish_store(store.store(), *replica_page);
  }

  // Runs a publisher until `between`, called once a round, is false.
  void serve(const PublisherOptions& options, std::function<bool()> between) {
    auto loop = EventLoop::create(WaitOptions{});
    REQUIRE(loop.ok());
    loop_ = loop->get();
    between_ = std::move(between);
    ViewRights rights;
    rights.owner = ::geteuid();
    TicketServer tickets(**loop, Descriptor(::dup(listener_.fd())), rights, page);
    auto publisher = Publisher::create(options, store, view_, page, tickets);
    REQUIRE(publisher.ok());
    publisher_ = publisher->get();
    (*loop)->add(**publisher);
    (*loop)->add(tickets);
    (*loop)->add(*this);
    (*loop)->run();
  }
  const Publisher& publisher() const { return *publisher_; }
  std::unique_ptr<ViewHandle> reader() const {
    return std::make_unique<ViewHandle>(connect_view(path), ViewDemands{.wait_ms = 0}, 1);
  }

  int poll(std::uint64_t now) override {
    now_ns = now;
    store.pump(true);
    if (!between_()) loop_->stop();
    return 1;  // the loop never sleeps
  }
  bool readable() override { return true; }
  std::uint64_t deadline_ns() const override { return 0; }

 private:
  const ShortFolder folder_;
  Prng prng_{1};

 public:
  const std::string path = folder_ / "a.view.sock";
  watch::StoresClient store{prng_};
  ViewPage page{};
  const std::unique_ptr<ReplicaPage> replica_page = std::make_unique<ReplicaPage>();
  std::uint64_t now_ns = 0;

 private:
  UnixListener listener_;
  InstanceView view_;
  EventLoop* loop_ = nullptr;
  Publisher* publisher_ = nullptr;
  std::function<bool()> between_;
};

bool reads(ViewHandle& handle, std::string_view key, std::string_view value) {
  ViewAnswer answer;
  return handle.get(key, answer) == ViewError::kNone && answer.size() == 1 && answer[0].value == value;
}

TEST_CASE("a publisher that waits for a reader asks and makes nothing, and then the reader reads every write") {
  World world;
  world.put("a", "1");
  world.apply_all();
  int rounds = 0;
  std::unique_ptr<ViewHandle> handle;
  bool written = false;
  world.serve({kIdentity, 1, 0, true}, [&] {
    if (++rounds < 50) {
      CHECK((world.store.idle() && world.page.generations.get() == 0));
      CHECK(world.publisher().deadline_ns() == Pollable::kNever);
      return true;
    }
    if (!handle) handle = world.reader();
    if (!written && reads(*handle, "a", "1")) {
      world.put("a", "2");
      written = true;
    }
    return !written || !reads(*handle, "a", "2");
  });
  CHECK(handle->identity() == kIdentity);
  CHECK(handle->generation() == 1);
}

// The stores count 192 bytes for a lease's hold on a key, and 256 for the lease, of which a view has eight.
TEST_CASE("a generation that the stores' count has made far too large is replaced once, and not again and again") {
  constexpr std::int64_t kKeys = 20'000;
  constexpr std::uint64_t kQuietNs = 1'000 * kMsNs;  // the next replacement would come after 200 to 400 ms
  World world;
  for (std::int64_t i = 1; i <= kKeys; ++i) {
    world.store.write(kv::Request(kv::LeaseGrantRequest{i, 600}));
    world.put(absl::StrCat("k", i), "v", i);
  }
  world.apply_all();
  REQUIRE(world.store.store().leases() == kKeys);
  const auto handle = world.reader();
  std::uint64_t since_ns = 0;
  std::uint64_t first_bytes = 0;
  world.serve({kIdentity, 1, 0, false}, [&] {
    std::uint64_t keys = 0;
    if (handle->count("", "", keys) != ViewError::kNone) return true;
    REQUIRE(keys == static_cast<std::uint64_t>(kKeys));
    if (world.page.generation.get() == 1) first_bytes = world.page.bytes.get();
    if (handle->generation() == 2 && since_ns == 0) since_ns = world.now_ns;
    return since_ns == 0 || world.now_ns < since_ns + kQuietNs;
  });
  CHECK(first_bytes > kViewBytesMin);
  CHECK(world.page.bytes.get() == kViewBytesMin);
  CHECK(world.page.generations.get() == 2);
}

TEST_CASE("who waits for a view that --view-bytes has no room for is told so") {
  World world;
  world.put("a", "1");
  world.apply_all();
  (*world.replica_page)[ReplicaCounter::kStoreKeys].set(50'000'000);  // their index alone has no room
  const auto handle = world.reader();
  world.serve({kIdentity, 1, kViewBytesMin, false}, [&] {
    std::uint64_t keys = 0;
    REQUIRE(handle->count("", "", keys) == ViewError::kNoView);
    return handle->refusal().ok();
  });
  CHECK(absl::IsOutOfRange(handle->refusal()));
  CHECK(world.page.full.get() == 1);
}

}  // namespace
}  // namespace ingot
