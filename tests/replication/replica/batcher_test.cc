// A batch holds the requests that arrived together, within bounds, each once.
#include "replication/replica/batcher.h"
#include "replication/replica/limits.h"
#include "replication/requests/limits.h"

#include <catch2/catch.hpp>

namespace ingot {
namespace {

Request command(std::uint64_t client, std::uint64_t sequence, std::string_view payload = "x") {
  Request request;
  request.client = client;
  request.sequence = sequence;
  request.payload = payload;
  return request;
}

}  // namespace

TEST_CASE("a batch holds commands in the order in which they came") {
  Batcher batcher;
  for (int i = 0; i < 3; ++i) REQUIRE(batcher.add(command(7, i)) == Batcher::Added::kYes);
  const auto batch = batcher.take();
  const auto commands = decode_batch(*batch);
  REQUIRE(commands);
  REQUIRE(commands->size() == 3);
  REQUIRE(commands->at(2).sequence == 2);
  REQUIRE(batcher.empty());
}

TEST_CASE("a batch that is taken has little more memory than it fills") {
  Batcher batcher;
  for (int round = 1; round <= 40; ++round) {
    for (int i = 0; i < round; ++i) REQUIRE(batcher.add(command(round, i, std::string(100, 'x'))) == Batcher::Added::kYes);
    const auto batch = batcher.take();
    CHECK(batch->capacity() <= batch->size() + batch->size() / 8);
    const auto commands = decode_batch(*batch);
    REQUIRE(commands);
    CHECK(commands->size() == static_cast<std::size_t>(round));
    for (const Request& each : *commands) CHECK(each.client == static_cast<std::uint64_t>(round));
  }
}

TEST_CASE("a full batch is followed by another") {
  Batcher batcher;
  for (int i = 0; i <= kBatchCommandsMax; ++i) REQUIRE(batcher.add(command(7, i)) == Batcher::Added::kYes);
  REQUIRE(decode_batch(*batcher.take())->size() == kBatchCommandsMax);
  REQUIRE(decode_batch(*batcher.take())->size() == 1);

  const std::string large(kRequestBytesMax, 'x');
  REQUIRE(batcher.add(command(8, 1, large)) == Batcher::Added::kYes);
  REQUIRE(batcher.add(command(8, 2, large)) == Batcher::Added::kYes);
  REQUIRE(batcher.take()->size() <= kBatchBytesMax);
  REQUIRE(batcher.take()->size() <= kBatchBytesMax);
}

TEST_CASE("a batch has a bound in bytes, and a larger command is a batch of its own") {
  constexpr std::size_t kBytes = 300;
  Batcher batcher(kBytes);
  for (int i = 0; i < 20; ++i) REQUIRE(batcher.add(command(7, i, std::string(40, 'x'))) == Batcher::Added::kYes);
  REQUIRE(batcher.add(command(7, 20, std::string(2 * kBytes, 'x'))) == Batcher::Added::kYes);
  REQUIRE(batcher.add(command(7, 21)) == Batcher::Added::kYes);
  std::size_t next = 0;
  while (!batcher.empty()) {
    const auto batch = batcher.take();
    const auto commands = decode_batch(*batch);
    REQUIRE(commands);
    const bool large = commands->front().sequence == 20;
    if (large) CHECK(commands->size() == 1);
    if (!large) CHECK(batch->size() <= kBytes);
    for (const Request& each : *commands) CHECK(each.sequence == next++);
  }
  CHECK(next == 22);
}

TEST_CASE("a command in flight is not accepted again until it is decided") {
  Batcher batcher;
  REQUIRE(batcher.add(command(7, 1)) == Batcher::Added::kYes);
  REQUIRE(batcher.add(command(7, 1)) == Batcher::Added::kRepeated);
  batcher.take();
  REQUIRE(batcher.add(command(7, 1)) == Batcher::Added::kRepeated);
  batcher.decided(command(7, 1));
  REQUIRE(batcher.add(command(7, 1)) == Batcher::Added::kYes);
}

TEST_CASE("forgotten proposals may be repeated") {
  Batcher batcher;
  batcher.add(command(7, 1));
  batcher.take();
  batcher.forget_proposals();
  REQUIRE(batcher.add(command(7, 1)) == Batcher::Added::kYes);
}

// Regression: requests that waited when proposals were forgotten were counted for ever, so that after a few changes of
// leader the queue counted as full although it was empty.
TEST_CASE("requests that wait when proposals are forgotten are freed once decided, and repetitions recognised") {
  Batcher batcher;
  const std::string large(kRequestBytesMax, 'x');
  for (std::uint64_t turn = 0; turn < 200; ++turn) {
    CAPTURE(turn);
    REQUIRE(batcher.add(command(7, 2 * turn, large)) == Batcher::Added::kYes);
    batcher.take();
    REQUIRE(batcher.add(command(7, 2 * turn + 1, large)) == Batcher::Added::kYes);
    batcher.forget_proposals();
    REQUIRE(batcher.add(command(7, 2 * turn + 1, large)) == Batcher::Added::kRepeated);
    batcher.take();
    batcher.decided(command(7, 2 * turn + 1, large));
  }
}

TEST_CASE("undecided requests are bounded in commands and in bytes") {
  Batcher by_commands;
  for (int i = 0; i < kLeaderQueueCommandsMax; ++i) REQUIRE(by_commands.add(command(7, i)) == Batcher::Added::kYes);
  REQUIRE(by_commands.add(command(8, 0)) == Batcher::Added::kFull);
  by_commands.decided(command(7, 5));
  REQUIRE(by_commands.add(command(8, 0)) == Batcher::Added::kYes);

  Batcher by_bytes;
  const std::string large(kRequestBytesMax, 'x');
  std::size_t bytes = 0;
  std::uint64_t sequence = 0;
  while (by_bytes.add(command(7, ++sequence, large)) == Batcher::Added::kYes) bytes += large.size();
  REQUIRE(bytes <= kLeaderQueueBytesMax);
  REQUIRE(bytes + 2 * kRequestBytesMax > kLeaderQueueBytesMax);
}

}  // namespace ingot
