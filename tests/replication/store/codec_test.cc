// Every value survives encoding and decoding, and no other bytes decode.
#include <catch2/catch.hpp>

#include "core/prng.h"
#include "replication/requests/limits.h"
#include "replication/requests/request.h"
#include "replication/store/codec.h"
#include "replication/store/kv_store.h"
#include "tests/replication/store/helpers.h"
#include "tests/replication/store/random_requests.h"
#include "tests/replication/store/text.h"
#include "tests/seeds.h"

namespace ingot::kv {
namespace {

// A put that is viewed is the one that is decoded.
void require_same_put(std::string_view bytes, const absl::StatusOr<Request>& decoded) {
  const PutRequest* put = decoded.ok() ? std::get_if<PutRequest>(&*decoded) : nullptr;
  const std::optional<PutView> view = decode_put(bytes);
  REQUIRE(view.has_value() == (put != nullptr));
  if (!view) return;
  const PutRequest viewed{std::string(view->key), std::string(view->value), view->lease,
                          view->prev_kv,          view->ignore_value,       view->ignore_lease};
  REQUIRE(viewed == *put);
  REQUIRE(validate(*view) == validate(*decoded));
}

// Changes, removes or adds a few bytes.
std::string mutate(std::string bytes, Prng& rng) {
  for (std::uint64_t left = 1 + rng.below(3); left > 0; --left) {
    const std::size_t at = rng.below(bytes.size() + 1);
    switch (rng.below(4)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.insert(at, 1, static_cast<char>(rng.below(256)));
        break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(rng.below(2) ? rng.below(256) : rng.below(8));
    }
  }
  return bytes;
}

TEST_CASE("Requests and results come back from their encodings") {
  for (const std::uint64_t seed : testing::seeds(4)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    KvStore store(Quota(20'000));
    for (int i = 0; i < 2000; ++i) {
      const Request request = random.next_or_alarm(store.revision());
      INFO(to_json(request));
      const std::string bytes = encode(request);
      const auto decoded = decode_request(bytes);
      REQUIRE(decoded.ok());
      REQUIRE(to_json(*decoded) == to_json(request));
      require_same_put(bytes, decoded);
      REQUIRE(encode(*decoded) == bytes);
      REQUIRE(request_from_json(to_json(request)).index() == request.index());
      REQUIRE(encode(request_from_json(to_json(request))) == bytes);
      const std::string result = store.apply(Slot(0), bytes);
      REQUIRE(encode(decode_result(result).value()) == result);
    }
  }
}

TEST_CASE("Bytes that decode are an encoding of the result, and the store survives all of it") {
  for (const std::uint64_t seed : testing::seeds(4)) {
    INFO("seed " << seed);
    RandomRequests random(seed);
    Prng rng(seed);
    KvStore store;
    int accepted = 0, refused = 0;
    for (int i = 0; i < 5000; ++i) {
      const std::string good = encode(random.next_or_alarm(store.revision()));
      const std::string bytes = mutate(good, rng);
      const auto request = decode_request(bytes);
      (request.ok() ? accepted : refused)++;
      if (request.ok()) REQUIRE(encode(*request) == bytes);
      require_same_put(bytes, request);
      const std::string answer = store.apply(Slot(0), bytes);
      const auto result = decode_result(answer);
      REQUIRE(result.ok());
      if (!request.ok()) REQUIRE(result->code == Code::kMalformed);
      const auto mutated = decode_result(mutate(answer, rng));
      if (mutated.ok() && mutated->code == Code::kOk) REQUIRE(decode_result(encode(*mutated)).ok());
      store.apply(Slot(0), good);
    }
    REQUIRE(accepted > 100);
    REQUIRE(refused > 100);
    REQUIRE(store.digest() == store.compute_digest());
  }
}

TEST_CASE("Counts that no bytes back reserve no memory") {
  std::string txn = encode(Request(TxnRequest{}));
  REQUIRE(txn.size() == 13);
  txn.replace(1, 4, "\xff\xff\xff\xff");
  REQUIRE_FALSE(decode_request(txn).ok());
  Result result;
  result.body = RangeResult{};
  std::string bytes = encode(result);
  bytes.replace(bytes.size() - 4, 4, "\xff\xff\xff\xff");
  REQUIRE_FALSE(decode_result(bytes).ok());
}

TEST_CASE("A put is encoded in few bytes: a message of one cache line holds a small one") {
  REQUIRE(encode(Request(put_of("key", "value"))).size() == 1 + 1 + 4 + 3 + 4 + 5);
}

}  // namespace
}  // namespace ingot::kv

namespace ingot {
namespace {

Request random_command(Prng& rng, std::string_view payload) {
  Request request;
  request.kind = static_cast<RequestKind>(1 + rng.below(4));
  request.client = rng();
  request.sequence = rng();
  request.acknowledged_below = rng();
  request.reply_to = EndpointId(static_cast<std::uint16_t>(rng.below(64)));
  request.responder = EndpointId(static_cast<std::uint16_t>(rng.below(48)));
  request.payload = payload;
  return request;
}

bool same(const Request& a, const Request& b) {
  return a.client == b.client && a.sequence == b.sequence && a.acknowledged_below == b.acknowledged_below &&
         a.reply_to == b.reply_to && a.responder == b.responder && a.payload == b.payload;
}

TEST_CASE("Client requests, responses and batches come back from their encodings") {
  Prng rng(1);
  std::string batch;
  std::vector<Request> commands;
  const std::string payload(100, 'p');
  for (int i = 0; i < kBatchCommandsMax; ++i) {
    const Request request = random_command(rng, std::string_view(payload).substr(rng.below(101)));
    const std::string encoded = encode(request);  // the decoded request points into it
    const auto decoded = decode_request(encoded);
    REQUIRE(decoded.has_value());
    REQUIRE(same(*decoded, request));
    REQUIRE(decoded->kind == request.kind);
    append_command(batch, request);
    commands.push_back(request);
  }
  const auto decoded = decode_batch(batch);
  REQUIRE(decoded.has_value());
  REQUIRE(std::equal(decoded->begin(), decoded->end(), commands.begin(), commands.end(), same));
  append_command(batch, commands[0]);
  REQUIRE_FALSE(decode_batch(batch).has_value());  // one too many
  REQUIRE(decode_batch("")->empty());

  Response response;
  response.status = Response::Status::kResultGone;
  response.sequence = 7;
  response.slot = Slot(8);
  response.leader = EndpointId(1);
  response.acceptor = EndpointId(2);
  response.payload = payload;
  const std::string bytes = encode(response);
  const auto back = decode_response(bytes);
  REQUIRE(back.has_value());
  REQUIRE(encode(*back) == bytes);
}

TEST_CASE("A batch that is cut anywhere decodes to nothing") {
  Prng rng(2);
  std::string batch;
  append_command(batch, random_command(rng, "one"));
  const std::size_t first = batch.size();
  append_command(batch, random_command(rng, "two"));
  for (std::size_t length = 1; length < batch.size(); ++length) {
    REQUIRE(decode_batch(std::string_view(batch).substr(0, length)).has_value() == (length == first));
  }
}

TEST_CASE("Messages of another class, an unknown kind or status, or too large a payload do not decode") {
  Prng rng(3);
  const std::string large(kRequestBytesMax + 1, 'p');
  std::string request = encode(random_command(rng, "payload"));
  REQUIRE_FALSE(decode_response(request).has_value());
  REQUIRE_FALSE(decode_request(encode(Response{})).has_value());
  REQUIRE_FALSE(decode_request(encode(random_command(rng, large))).has_value());
  REQUIRE(decode_request(encode(random_command(rng, std::string_view(large).substr(1)))).has_value());
  for (const char kind : {'\0', '\7'}) {
    request[1] = kind;
    REQUIRE_FALSE(decode_request(request).has_value());
  }
  std::string response = encode(Response{});
  response[1] = 5;
  REQUIRE_FALSE(decode_response(response).has_value());
  std::string batch;
  append_command(batch, random_command(rng, large));
  REQUIRE_FALSE(decode_batch(batch).has_value());
}

}  // namespace
}  // namespace ingot
