// Standing queries that wait at a replica.
#include "replication/replica/standing_reads.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replication/replica/limits.h"

namespace ingot {
namespace {

constexpr EndpointId kOne{3}, kOther{4};
constexpr std::uint64_t kOverdueNs = std::uint64_t{kStandingOverdueMs} * 1'000'000;

// Has something to say once its word is set; overdue, it says so.
class Word final : public StandingQuery {
 public:
  explicit Word(const std::string& word) : word_(word) {}
  std::optional<std::string> look(bool overdue) override {
    if (!word_.empty()) return word_;
    return overdue ? std::optional<std::string>("overdue") : std::nullopt;
  }

 private:
  const std::string& word_;
};

struct Sent {
  EndpointId to;
  std::uint64_t sequence;
  std::string answer;
};

class Reads {
 public:
  bool answer(std::uint64_t now_ns) {
    return reads.answer_next(now_ns, [this](EndpointId to, std::uint64_t sequence, std::string_view answer) {
      if (!room) return false;
      sent.push_back({to, sequence, std::string(answer)});
      return true;
    });
  }

  StandingReads reads;
  std::vector<Sent> sent;
  bool room = true;
};

TEST_CASE("a standing query waits until it has something to say, and is answered once") {
  Reads all;
  std::string word;
  all.reads.park(kOne, 1, std::make_unique<Word>(word), 0);
  REQUIRE_FALSE(all.answer(1));
  word = "now";
  REQUIRE(all.answer(1));
  REQUIRE_FALSE(all.answer(1));
  REQUIRE(all.sent.size() == 1);
  REQUIRE(all.sent[0].to == kOne);
  REQUIRE(all.sent[0].answer == "now");
  REQUIRE(all.reads.size() == 0);
}

TEST_CASE("a client's later standing query replaces its earlier one, and an earlier one that comes late nothing") {
  Reads all;
  std::string word = "x";
  all.reads.park(kOne, 5, std::make_unique<Word>(word), 0);
  all.reads.park(kOne, 7, std::make_unique<Word>(word), 0);
  all.reads.park(kOne, 6, std::make_unique<Word>(word), 0);
  all.reads.park(kOther, 2, std::make_unique<Word>(word), 0);
  REQUIRE(all.reads.size() == 2);
  while (all.answer(1)) {
  }
  REQUIRE(all.sent.size() == 2);
  REQUIRE(all.sent[0].sequence == 7);
  REQUIRE(all.sent[1].sequence == 2);
}

TEST_CASE("an answer for which there is no room is not lost") {
  Reads all;
  std::string word = "x";
  all.reads.park(kOne, 1, std::make_unique<Word>(word), 0);
  all.room = false;
  REQUIRE_FALSE(all.answer(1));
  all.room = true;
  REQUIRE(all.answer(1));
  REQUIRE(all.sent.size() == 1);
}

TEST_CASE("a standing query is overdue after a while") {
  Reads all;
  std::string word;
  all.reads.park(kOne, 1, std::make_unique<Word>(word), 1000);
  REQUIRE_FALSE(all.answer(1000 + kOverdueNs - 1));
  REQUIRE(all.answer(1000 + kOverdueNs));
  REQUIRE(all.sent[0].answer == "overdue");
}

}  // namespace
}  // namespace ingot
