// Load for a group on one thread, and the checks at its end.
#pragma once

#include <catch2/catch.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replication/store/codec.h"
#include "tests/replication/replica/group_on_one_thread.h"

namespace ingot {

inline constexpr int kLoadKeys = 20;

// Puts to a few keys, some rounds apart; key k's values are ascending numbers.
class Load {
 public:
  explicit Load(GroupOnOneThread& group) : group_(group) {}

  void run(int puts, std::uint64_t step_ns = 100'000) {
    for (int i = 0; i < puts; ++i) {
      kv::PutRequest put;
      put.key = "key-" + std::to_string(sent_.size() % kLoadKeys);
      put.value = std::to_string(sent_.size());
      sent_.push_back(group_.submit(RequestKind::kCommand, put));
      for (int round = 0; round < 3; ++round) group_.round(step_ns);
    }
  }

  // Runs rounds until every put so far is answered; returns their number.
  int wait() {
    int rounds = 0;
    for (; !all_arrived(); ++rounds) {
      REQUIRE(rounds < 200'000);
      group_.round();
    }
    return rounds;
  }

  // All puts were acknowledged and took effect once: a key has as many versions as it was put, and the value of its
  // last revision.
  void check() {
    std::map<std::string, std::pair<std::int64_t, std::string>> newest;
    std::map<std::string, std::int64_t> versions;
    std::map<std::int64_t, int> revisions;
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      REQUIRE(sent_[i]->outcome == ReplicaReply::Outcome::kOk);
      const std::int64_t revision = sent_[i]->result().revision;
      REQUIRE(++revisions[revision] == 1);
      const std::string key = "key-" + std::to_string(i % kLoadKeys);
      ++versions[key];
      if (revision > newest[key].first) newest[key] = {revision, std::to_string(i)};
    }
    for (const auto& [key, last] : newest) {
      CAPTURE(key);
      const kv::Result result = group_.get(key);
      const kv::KeyValue& found = std::get<kv::RangeResult>(result.body).kvs.at(0);
      REQUIRE(found.value == last.second);
      REQUIRE(found.version == versions[key]);
    }
  }

 private:
  bool all_arrived() const {
    for (std::size_t i = sent_.size(); i-- > 0;) {
      if (!sent_[i]->arrived) return false;
    }
    return true;
  }

  GroupOnOneThread& group_;
  std::vector<std::shared_ptr<GroupOnOneThread::Answer>> sent_;
};

inline void require_equal_digests(const GroupOnOneThread& group) {
  std::optional<int> first;
  for (int id = 0; id < group.replicas(); ++id) {
    if (!group.alive(id)) continue;
    if (!first) first = id;
    CAPTURE(id, *first);
    REQUIRE(group.applier(id).applied() == group.applier(*first).applied());
    REQUIRE(group.applier(id).digest() == group.applier(*first).digest());
  }
}

// Checks a group after its faults: more load succeeds, no acknowledged write is lost, and all living replicas agree.
inline void require_survived(GroupOnOneThread& group, Load& load) {
  load.run(50);
  load.wait();
  group.settle();
  load.check();
  require_equal_digests(group);
}

}  // namespace ingot
