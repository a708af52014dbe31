#include "tests/fuzz/targets.h"

#include "core/check.h"
#include "replication/replica/applier.h"
#include "replication/requests/request.h"
#include "replication/store/kv_store.h"
#include "tests/replication/store/random_requests.h"

namespace ingot::fuzz {
namespace {

// A store with some history, the same each time.
kv::KvStore used_store() {
  kv::KvStore store(kv::Quota(8000));
  kv::RandomRequests requests(1);
  for (int i = 0; i < 50; ++i) store.apply(Slot(0), encode(requests.next(store.revision())));
  return store;
}

void check_result(const std::string& bytes) { INGOT_CHECK(kv::decode_result(bytes).ok(), "every answer decodes"); }

// Runs a few more requests, which an intact store answers.
void exercise(kv::KvStore& store) {
  kv::RandomRequests requests(2);
  for (int i = 0; i < 20; ++i) check_result(store.apply(Slot(0), encode(requests.next(store.revision()))));
  INGOT_CHECK(store.digest() == store.compute_digest());
}

}  // namespace

void run_request(std::string_view bytes) {
  const auto request = kv::decode_request(bytes);
  if (request.ok()) INGOT_CHECK(encode(*request) == bytes, "a request has one encoding");
  static kv::KvStore store = used_store();
  static const std::string original = store.save();
  const std::uint64_t digest = store.digest();
  check_result(store.query(bytes));
  INGOT_CHECK(store.digest() == digest, "a query changes nothing");
  check_result(store.apply(Slot(0), bytes));
  INGOT_CHECK(store.digest() == store.compute_digest());
  if (store.digest() != digest) INGOT_CHECK(store.load(original).ok() && store.digest() == digest);
}

std::string sample_request(Prng& rng) { return encode(kv::RandomRequests(rng()).next_or_alarm(20)); }

void run_result(std::string_view bytes) {
  const auto result = kv::decode_result(bytes);
  if (result.ok()) INGOT_CHECK(encode(*result) == bytes, "a result has one encoding");
}

std::string sample_result(Prng& rng) {
  static kv::KvStore store = used_store();
  return store.apply(Slot(0), sample_request(rng));
}

void run_batch(std::string_view bytes) {
  const auto commands = decode_batch(bytes);
  std::string again;
  for (const Request& command : commands.value_or(std::vector<Request>{})) append_command(again, command);
  if (commands) INGOT_CHECK(again == bytes, "a batch has one encoding");
  kv::KvStore store, twin;
  Applier applier(store), twin_applier(twin);
  std::size_t answers = 0;
  applier.apply(Slot(0), bytes, [&](const Applier::Applied&) { ++answers; });
  INGOT_CHECK(answers == (commands ? commands->size() : 0), "every command is answered once");
  twin_applier.apply(Slot(0), bytes, [](const Applier::Applied&) {});
  INGOT_CHECK(applier.digest() == twin_applier.digest(), "replicas agree");
  Applier loaded(twin);
  INGOT_CHECK(loaded.load(applier.save()).ok(), "what save writes, load reads");
  INGOT_CHECK(loaded.digest() == applier.digest());
}

std::string sample_batch(Prng& rng) {
  std::string batch;
  for (std::uint64_t left = rng.below(5); left > 0; --left) {
    const std::string payload = sample_request(rng);
    Request command;
    command.client = rng.below(3);
    command.sequence = rng.below(4);
    command.acknowledged_below = rng.below(2);
    command.payload = payload;
    append_command(batch, command);
  }
  return batch;
}

void run_message(std::string_view bytes) {
  const auto request = decode_request(bytes);
  if (request) INGOT_CHECK(encode(*request) == bytes, "a message has one encoding");
  const auto response = decode_response(bytes);
  if (response) INGOT_CHECK(encode(*response) == bytes, "a message has one encoding");
  INGOT_CHECK(!request || !response, "a message has one class");
}

std::string sample_message(Prng& rng) {
  const std::string payload = sample_request(rng);
  if (rng.below(2) == 0) {
    Response response;
    response.sequence = rng();
    response.payload = payload;
    return encode(response);
  }
  Request request;
  request.client = rng();
  request.payload = payload;
  return encode(request);
}

void run_snapshot(std::string_view bytes) {
  static kv::KvStore store = used_store();
  static const std::string original = store.save();
  if (!store.load(bytes).ok()) {
    INGOT_CHECK(store.compute_digest() == store.digest(), "a refused snapshot changes nothing");
    return;
  }
  INGOT_CHECK(store.save() == bytes, "a state has one snapshot");
  exercise(store);
  INGOT_CHECK(store.load(original).ok() && store.save() == original);
}

std::string sample_snapshot(Prng& rng) {
  kv::KvStore store;
  kv::RandomRequests requests(rng());
  for (std::uint64_t left = rng.below(20); left > 0; --left) {
    store.apply(Slot(0), encode(requests.next(store.revision())));
  }
  return store.save();
}

}  // namespace ingot::fuzz
