// Active messages and groups over both channel protocols: on one thread, polled in an order that a seed determines,
// against a simple model; and on threads.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/enum_names.h"
#include "core/prng.h"
#include "tests/seeds.h"
#include "tests/transport/collectives/groups/bank.h"
#include "transport/host/fabric.h"
#include "transport/host/host_transport.h"

namespace ingot::test {
namespace {

EndpointId id(std::size_t endpoint) { return EndpointId(static_cast<std::uint16_t>(endpoint)); }

class Town {
 public:
  Town(std::string_view kind, int endpoints, std::uint64_t seed)
      : random_(seed),
        fabric_(*Fabric::create("groups", endpoints, inbox_bytes(*value_of<TransportKind>(kind), endpoints))) {
    std::vector<std::span<std::byte>> inboxes;
    for (int i = 0; i < endpoints; ++i) inboxes.push_back(fabric_.inbox(id(static_cast<std::size_t>(i))));
    for (int i = 0; i < endpoints; ++i) {
      const EndpointId self = id(static_cast<std::size_t>(i));
      transports_.push_back(make_transport(*value_of<TransportKind>(kind), inboxes, self, fabric_, {}));
      messages_.push_back(std::make_unique<ActiveMessages>(*transports_.back(), endpoints, bank.table));
    }
  }

  ActiveMessages& at(std::size_t endpoint) { return *messages_[endpoint]; }
  Transport& transport(std::size_t endpoint) { return *transports_[endpoint]; }
  Prng& random() { return random_; }

  GlobalPointer<Account> open(std::size_t endpoint, std::int64_t balance) {
    accounts.push_back(std::make_unique<Account>(balance));
    return *at(endpoint).publish(*accounts.back());
  }

  void stop(std::size_t endpoint) { stopped_ = endpoint; }

  // Polls until all endpoints are idle.
  void settle() {
    for (std::size_t idle = 0; idle < 200 * messages_.size();) {
      const std::size_t next = random_.below(messages_.size());
      idle = next != stopped_ && messages_[next]->poll() > 0 ? 0 : idle + 1;
    }
  }

  const Bank bank;
  std::vector<std::unique_ptr<Account>> accounts;

 private:
  Prng random_;
  Fabric fabric_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<ActiveMessages>> messages_;
  std::size_t stopped_ = ~std::size_t{0};
};

template <typename T>
auto keep(std::optional<T>& kept) {
  return [&kept](T value) {
    REQUIRE(!kept.has_value());  // called once
    kept = std::move(value);
  };
}

TEST_CASE("methods of other endpoints' objects are called, and errors come back") {
  for (const std::string_view kind : {"nvp", "srbp"}) {
    Town town(kind, 3, 1);
    const GlobalPointer<Account> account = town.open(2, 100);
    ActiveMessages& here = town.at(0);
    using Amount = absl::StatusOr<std::int64_t>;
    std::optional<Amount> first, second;
    std::optional<absl::Status> closed;
    std::optional<absl::StatusOr<std::vector<std::int64_t>>> many;
    REQUIRE(here.call(account, town.bank.withdraw, keep(first), 60).ok());
    REQUIRE(here.call(account, town.bank.withdraw, keep(second), 60).ok());
    REQUIRE(here.call(account, town.bank.close, keep(closed)).ok());
    REQUIRE(here.call(account, town.bank.repeat, keep(many), 5000u).ok());
    REQUIRE(here.post(account, town.bank.deposit, 5).ok());
    CHECK(!first.has_value());  // calls run in poll only
    town.settle();
    CHECK(first.value() == Amount(40));
    CHECK(second.value().status() == absl::FailedPreconditionError("not so much is there"));
    CHECK(closed.value() == absl::FailedPreconditionError("not empty"));
    CHECK(many.value().value() == std::vector<std::int64_t>(5000, 40));
    CHECK(town.accounts[0]->balance() == 45);
    CHECK(here.requests().outstanding() == 0);
  }
}

TEST_CASE("a missing object, or one of another type, is an error") {
  Town town("nvp", 2, 1);
  Stranger stranger;
  const GlobalPointer<Account> account = town.open(1, 0);
  const GlobalPointer<Stranger> other = *town.at(1).publish(stranger);
  const GlobalPointer<Account> mistaken{{other.endpoint, other.object}}, missing{{id(1), 77}}, nowhere{{id(9), 0}};
  const auto answer = [&](GlobalPointer<Account> to, Method<Account, std::int64_t> method) {
    std::optional<absl::StatusOr<std::int64_t>> result;
    REQUIRE(town.at(0).call(to, method, keep(result)).ok());
    town.settle();
    return result.value().status().code();
  };
  CHECK(answer(account, town.bank.balance) == absl::StatusCode::kOk);
  CHECK(answer(mistaken, town.bank.balance) == absl::StatusCode::kInvalidArgument);
  CHECK(answer(missing, town.bank.balance) == absl::StatusCode::kNotFound);
  CHECK(answer(account, {12345}) == absl::StatusCode::kNotFound);
  CHECK(answer(account, {town.bank.deposit.id}) == absl::StatusCode::kInvalidArgument);  // without its argument
  CHECK(town.at(0).post(nowhere, town.bank.balance).code() == absl::StatusCode::kInvalidArgument);
  CHECK(town.at(0).post(account, town.bank.note, std::string(kActiveMessageBytesMax, 'x')).code() ==
        absl::StatusCode::kInvalidArgument);
  town.at(1).withdraw(account);
  CHECK(answer(account, town.bank.balance) == absl::StatusCode::kNotFound);
}

TEST_CASE("calls beyond the bounds are refused, and the others are done") {
  Town town("nvp", 2, 1);
  const GlobalPointer<Account> account = town.open(1, 0);
  std::size_t accepted = 0, answered = 0;
  absl::Status status;
  while (status.ok()) {
    status = town.at(0).call(account, town.bank.deposit, [&](absl::Status done) { answered += done.ok(); }, 1);
    accepted += status.ok();
  }
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  CHECK(accepted == kCallsOutstandingMax);
  for (status = absl::OkStatus(); status.ok();) {
    status = town.at(0).post(account, town.bank.deposit, 1);
    accepted += status.ok();
  }
  CHECK(status.code() == absl::StatusCode::kResourceExhausted);
  town.settle();
  CHECK(answered == kCallsOutstandingMax);
  CHECK(town.accounts[0]->balance() == static_cast<std::int64_t>(accepted));
  CHECK(town.at(0).post(account, town.bank.deposit, 1).ok());
}

// The model: the same operations on a vector.
TEST_CASE("operations on groups are those on a vector of the objects") {
  for (const std::uint64_t seed : ingot::testing::seeds(60)) {
    INFO("seed " << seed);
    Prng random(seed);
    const std::size_t endpoints = 1 + random.below(9);
    Town town(seed % 2 == 0 ? "nvp" : "srbp", static_cast<int>(endpoints), seed);
    std::vector<GlobalPointer<Account>> members;
    std::vector<std::int64_t> model;
    for (std::size_t i = 0, count = 1 + random.below(30); i < count; ++i) {
      model.push_back(static_cast<std::int64_t>(random.below(100)));
      members.push_back(town.open(random.below(endpoints), model.back()));
    }
    const auto group = *ObjectGroup<Account>::create(members);
    ActiveMessages& caller = town.at(random.below(endpoints));
    std::optional<absl::Status> mapped;
    REQUIRE(caller.map(group, town.bank.deposit, keep(mapped), 7).ok());
    town.settle();
    std::optional<absl::StatusOr<std::vector<std::int64_t>>> gathered;
    std::optional<absl::StatusOr<std::int64_t>> sum;
    std::optional<absl::StatusOr<std::string>> names;  // joining does not commute
    std::optional<absl::StatusOr<std::vector<std::int64_t>>> withdrawn;
    REQUIRE(caller.gather(group, town.bank.balance, keep(gathered)).ok());
    REQUIRE(caller.reduce(group, town.bank.balance, town.bank.sum, keep(sum)).ok());
    REQUIRE(caller.reduce(group, town.bank.name, town.bank.join, keep(names)).ok());
    town.settle();
    REQUIRE(caller.gather(group, town.bank.withdraw, keep(withdrawn), 20).ok());
    town.settle();

    std::int64_t expected_sum = 0;
    std::string expected_names;
    bool all_can_pay = true;
    for (std::int64_t& each : model) {
      each += 7;
      expected_sum += each;
      expected_names += "<" + std::to_string(each) + ">";
      all_can_pay = all_can_pay && each >= 20;
    }
    CHECK(mapped.value() == absl::OkStatus());
    CHECK(gathered.value().value() == model);
    CHECK(sum.value().value() == expected_sum);
    CHECK(names.value().value() == expected_names);
    CHECK(withdrawn.value().ok() == all_can_pay);
    if (!all_can_pay) CHECK(withdrawn.value().status() == absl::FailedPreconditionError("not so much is there"));
    for (std::size_t i = 0; i < model.size(); ++i) {
      CHECK(town.accounts[i]->balance() == (model[i] >= 20 ? model[i] - 20 : model[i]));
    }
  }
}

TEST_CASE("the first error in the group's order is returned, after all have answered") {
  Town town("nvp", 4, 3);
  std::vector<GlobalPointer<Account>> members;
  for (std::size_t i = 0; i < 12; ++i) members.push_back(town.open(i % 4, 0));
  members[5].object = 500;
  members[9].object = 900;
  std::optional<absl::Status> result;
  REQUIRE(town.at(0).map(*ObjectGroup<Account>::create(members), town.bank.deposit, keep(result), 1).ok());
  town.settle();
  CHECK(result.value() == absl::NotFoundError("endpoint 1 has no object 500"));
  for (std::size_t i = 0; i < 12; ++i) CHECK(town.accounts[i]->balance() == (i == 5 || i == 9 ? 0 : 1));
  CHECK(ObjectGroup<Account>::create({}).status().code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("calls to an endpoint that is gone fail, alone and in groups") {
  Town town("nvp", 5, 4);
  std::vector<GlobalPointer<Account>> members;
  for (std::size_t i = 0; i < 5; ++i) members.push_back(town.open(i, 1));
  town.stop(3);
  std::optional<absl::StatusOr<std::int64_t>> alone, sum;
  REQUIRE(town.at(0).call(members[3], town.bank.balance, keep(alone)).ok());
  const auto group = *ObjectGroup<Account>::create(members);
  REQUIRE(town.at(0).reduce(group, town.bank.balance, town.bank.sum, keep(sum)).ok());
  town.settle();
  CHECK(!alone.has_value());
  CHECK(!sum.has_value());
  for (const std::size_t survivor : {0, 1, 2, 4}) town.at(survivor).endpoint_gone(id(3));
  town.settle();
  CHECK(alone.value().status().code() == absl::StatusCode::kUnavailable);
  CHECK(sum.value().status().code() == absl::StatusCode::kUnavailable);
  CHECK(town.at(0).post(members[3], town.bank.deposit, 1).code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("bytes that are no message are dropped or refused") {
  Town town("nvp", 2, 5);
  const GlobalPointer<Account> account = town.open(1, 3);
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Prng random(seed);
    std::string bytes;
    const bool plausible = random.chance(0.7);
    for (std::size_t i = 0, n = 1 + random.below(40); i < n; ++i) bytes += static_cast<char>(random.below(4));
    if (plausible) bytes[0] = static_cast<char>(0x50 + random.below(2));
    while (!town.transport(0).send(id(1), as_bytes(bytes))) town.settle();
    if (seed % 16 == 0) town.settle();
  }
  town.settle();
  std::optional<absl::StatusOr<std::int64_t>> balance;
  REQUIRE(town.at(0).call(account, town.bank.balance, keep(balance)).ok());
  town.settle();
  CHECK(balance.value().ok());
  CHECK(town.at(1).requests().strays() > 0);
}

// Each thread's account pays the next one's, all at the same time; sums are requested meanwhile.
TEST_CASE("endpoints on threads call each other's methods") {
  constexpr std::size_t kThreads = 4;
  constexpr int kPayments = 500;
  Town town("srbp", kThreads, 1);
  std::vector<GlobalPointer<Account>> members;
  for (std::size_t i = 0; i < kThreads; ++i) members.push_back(town.open(i, 1000));
  const auto group = *ObjectGroup<Account>::create(members);
  std::atomic<std::size_t> finished{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t self = 0; self < kThreads; ++self) {
    threads.emplace_back([&, self] {
      ActiveMessages& here = town.at(self);
      int answers = 0, sums = 0, asked = 0;
      const auto pay = [&] {
        ++asked;
        const auto paid = [&](absl::Status status) { wrong += !status.ok(), ++answers; };
        if (!here.call(members[(self + 1) % kThreads], town.bank.deposit, paid, 1).ok()) ++wrong;
        const auto summed = [&](absl::StatusOr<std::int64_t> sum) { wrong += !sum.ok() || *sum < 4000, ++sums; };
        if (asked % 50 == 0 && !here.reduce(group, town.bank.balance, town.bank.sum, summed).ok()) ++wrong;
      };
      bool counted = false;
      while (finished.load() < kThreads || here.unsent()) {
        if (asked < kPayments && asked - answers < 16) pay();
        if (here.poll() == 0) std::this_thread::yield();
        if (!counted && answers == kPayments && sums == kPayments / 50) {
          counted = true;
          ++finished;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong.load() == 0);
  for (const auto& account : town.accounts) CHECK(account->balance() == 1000 + kPayments);
}

}  // namespace
}  // namespace ingot::test
