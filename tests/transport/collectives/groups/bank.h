// The object whose methods the tests call, and the table of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/collectives/groups/active_messages.h"

namespace ingot::test {

class Account {
 public:
  explicit Account(std::int64_t balance) : balance_(balance) {}

  absl::StatusOr<std::int64_t> withdraw(std::int64_t amount) {
    if (amount > balance_) return absl::FailedPreconditionError("not so much is there");
    return balance_ -= amount;
  }
  void deposit(std::int64_t amount) { balance_ += amount; }
  std::int64_t balance() const { return balance_; }
  absl::Status close() { return balance_ == 0 ? absl::OkStatus() : absl::FailedPreconditionError("not empty"); }

  // Long arguments and results; order matters.
  std::string note(const std::string& text) { return notes_ += text; }
  std::vector<std::int64_t> repeat(std::uint32_t times) const { return std::vector<std::int64_t>(times, balance_); }
  std::string name() const { return "<" + std::to_string(balance_) + ">"; }

 private:
  std::int64_t balance_;
  std::string notes_;
};

class Stranger {
 public:
  void nothing() {}
};

struct Bank {
  MethodTable table;
  Method<Account, absl::StatusOr<std::int64_t>, std::int64_t> withdraw = table.method("withdraw", &Account::withdraw);
  Method<Account, void, std::int64_t> deposit = table.method("deposit", &Account::deposit);
  Method<Account, std::int64_t> balance = table.method("balance", &Account::balance);
  Method<Account, absl::Status> close = table.method("close", &Account::close);
  Method<Account, std::string, std::string> note = table.method("note", &Account::note);
  Method<Account, std::vector<std::int64_t>, std::uint32_t> repeat = table.method("repeat", &Account::repeat);
  Method<Account, std::string> name = table.method("name", &Account::name);
  Method<Stranger, void> nothing = table.method("nothing", &Stranger::nothing);
  Combiner<std::int64_t> sum = table.combiner<std::int64_t>("sum", [](auto a, auto b) { return a + b; });
  Combiner<std::string> join = table.combiner<std::string>("join", [](auto a, auto b) { return a + b; });
};

}  // namespace ingot::test
