// Random watches on stores that lag, lose answers and compact, behind a session that refuses some questions, with
// clients that read slowly, come and go: each watch gets the events that one plain list of all changes says, in order,
// each once, whole revisions at a time.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/seeds.h"
#include "tests/services/watch/hub_world.h"

namespace ingot::watch {
namespace {

constexpr int kSteps = 1500;

// All changes that there ever were: a store that is never compacted tells them.
class History {
 public:
  void write(const kv::Request& request) {
    store_.apply(Slot(slot_++), kv::encode(request));
    kv::EventsRequest events;
    events.from = {next_, 0};
    events.prev_kv = true;
    events.bytes_max = 1 << 30;
    events.ranges = {{std::string(1, '\0'), std::string(1, '\0')}};
    while (events.from.revision <= store_.revision()) {
      auto result = kv::decode_result(store_.query(kv::encode(kv::Request(events))));
      auto& found = std::get<kv::EventsResult>(result->body);
      for (kv::Event& event : found.events) all.push_back(std::move(event));
      events.from = found.next;
    }
    next_ = store_.revision() + 1;
  }

  std::vector<kv::Event> all;

 private:
  kv::KvStore store_;
  std::uint64_t slot_ = 0;
  Revision next_ = 2;
};

// What a client knows of one of its watches.
struct Follower {
  pb::WatchCreateRequest asked;
  Revision compacted = -1;   // by the store, when it was asked for
  bool created = false;
  bool canceled = false;
  bool let_go = false;       // by its client: its id is free
  bool in_fragment = false;
  Revision next = 0;         // from the header of `created`, or as asked for
  Revision whole_to = 0;     // all before it has come
  std::size_t at = 0;        // in the history
};

class Run {
 public:
  explicit Run(std::uint64_t seed) : world_(seed), prng_(world_.prng), seed_(seed) {}

  void go() {
    for (int step = 0; step < kSteps && fault_.empty(); ++step) {
      act();
      world_.round(prng_.below(4) == 0 ? prng_.below(400'000) : prng_.below(300));
      hear_all();
      if (!fault_.empty()) fault_ += absl::StrCat(" (step ", step, ")");
    }
    for (int i = 0; i < 200 && fault_.empty(); ++i) {
      const bool settled = world_.settle();
      if (!settled) {
        const WatchCounters& c = world_.counters;
        fault_ = absl::StrCat("the hub does not come to rest: watches ", c.watches.get(), " behind ", c.behind.get(),
                              " pages ", c.pages.get(), " questions ", c.feed_queries.get(), " read ",
                              c.events_read.get(), " overtaken ", c.canceled_compacted.get());
      }
      hear_all();
      for (auto& client : clients_) client->stream->read(1 << 30);
      if (i > 2 && all_heard()) break;
    }
    if (fault_.empty() && !all_heard()) fault_ = "some watch has not got all its events";
    INFO("seed " << seed_);
    CHECK(fault_ == "");
  }

 private:
  struct Client {
    int connection = 0;
    std::unique_ptr<TestStream> stream;
    std::map<std::int64_t, Follower> followers;
    std::vector<Follower> creating;
    std::int64_t next_id = 100;
  };

  std::string key() { return std::string(1, static_cast<char>('a' + prng_.below(4))) + std::to_string(prng_.below(3)); }

  std::string value() {
    const std::uint64_t kind = prng_.below(60);
    return std::string(kind == 0 ? 300'000 : kind < 4 ? 60'000 : prng_.below(20), 'v');
  }

  kv::Request random_write() {
    kv::PutRequest put;
    put.key = key(), put.value = value();
    if (prng_.chance(0.7)) return put;
    kv::DeleteRangeRequest gone;
    gone.key = key();
    if (prng_.chance(0.3)) gone.range_end = key() + "z";
    if (gone.range_end < gone.key) gone.range_end.clear();
    if (prng_.chance(0.6)) return gone;
    kv::TxnRequest txn;
    for (int i = 0; i < 12; ++i) {
      kv::PutRequest one;
      one.key = std::string(1, static_cast<char>('a' + i % 4)) + std::to_string(i / 4), one.value = value();
      if (prng_.chance(0.5)) txn.success.emplace_back(one);
    }
    return txn;
  }

  void act() {
    switch (prng_.below(14)) {
      case 0:
        if (clients_.size() < 6) add_client();
        return;
      case 1:
        if (!clients_.empty() && prng_.chance(0.1)) clients_.erase(clients_.begin() + pick());
        return;
      case 2:
      case 3:
        if (!clients_.empty()) create(*clients_[static_cast<std::size_t>(pick())]);
        return;
      case 4:
        if (!clients_.empty()) ask_other(*clients_[static_cast<std::size_t>(pick())]);
        return;
      case 5:
        if (prng_.chance(0.1)) {
          kv::CompactRequest compact;
          compact.revision = std::max<Revision>(1, world_.client.newest() - static_cast<Revision>(prng_.below(20)));
          world_.client.write(compact);
        }
        return;
      case 6:
      case 7:
        for (auto& client : clients_) client->stream->read(prng_.chance(0.2) ? 1 << 30 : prng_.below(3000));
        return;
      default: {
        const kv::Request request = random_write();
        world_.client.write(request);
        history_.write(request);
      }
    }
  }

  int pick() { return static_cast<int>(prng_.below(clients_.size())); }

  void add_client() {
    auto client = std::make_unique<Client>();
    client->connection = static_cast<int>(prng_.below(3));
    client->stream = std::make_unique<TestStream>(world_.hub, &connections_[client->connection]);
    clients_.push_back(std::move(client));
  }

  void create(Client& client) {
    if (!client.stream->may_ask()) return;
    pb::WatchCreateRequest asked;
    asked.set_key(key());
    switch (prng_.below(4)) {
      case 0:
        asked.set_range_end(std::string(1, '\0'));
        break;
      case 1:
        asked.set_range_end(asked.key() + "z");
        break;
      default:
        break;
    }
    if (prng_.chance(0.4)) {
      const auto revisions = static_cast<std::uint64_t>(history_.all.size()) + 30;
      asked.set_start_revision(1 + static_cast<Revision>(prng_.below(revisions)));
    }
    asked.set_prev_kv(prng_.chance(0.3));
    asked.set_fragment(prng_.chance(0.3));
    if (prng_.chance(0.1)) asked.add_filters(pb::WatchCreateRequest::NOPUT);
    if (prng_.chance(0.1)) asked.add_filters(pb::WatchCreateRequest::NODELETE);
    if (prng_.chance(0.3)) asked.set_watch_id(client.next_id++);
    client.creating.push_back({asked, world_.client.compacted()});
    client.stream->create(asked);
  }

  void ask_other(Client& client) {
    if (!client.stream->may_ask()) return;
    pb::WatchRequest request;
    if (prng_.chance(0.5) || client.followers.empty()) {
      request.mutable_progress_request();
    } else {
      auto at = client.followers.begin();
      std::advance(at, static_cast<std::ptrdiff_t>(prng_.below(client.followers.size())));
      request.mutable_cancel_request()->set_watch_id(at->first);
    }
    client.stream->ask(std::move(request));
  }

  // ---- What comes ----

  void hear_all() {
    for (std::size_t i = 0; i < clients_.size();) {
      for (const pb::WatchResponse& response : clients_[i]->stream->take()) hear(*clients_[i], response);
      if (clients_[i]->stream->ended()) {
        clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  void fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
  }

  void hear(Client& client, const pb::WatchResponse& response) {
    if (response.created()) return hear_created(client, response);
    if (response.watch_id() == -1) {
      for (const auto& [id, follower] : client.followers) {
        if (!follower.canceled && next_wanted(follower, response.header().revision())) fail("progress before an event");
      }
      return;
    }
    const auto found = client.followers.find(response.watch_id());
    if (found == client.followers.end()) return fail("a response for no watch");
    Follower& follower = found->second;
    const bool answers_cancel = response.canceled() && response.compact_revision() == 0 && !follower.let_go;
    if (follower.canceled && !answers_cancel) return fail("a response after the end");
    follower.let_go |= answers_cancel;
    if (response.canceled()) {
      follower.canceled = true;
      if (response.compact_revision() != 0 && follower.whole_to >= response.compact_revision()) {
        fail("canceled by a compaction behind it");
      }
      if (response.compact_revision() != 0 && response.compact_revision() < follower.compacted) {
        fail("told of an older compaction than the last one before it was asked for");
      }
      return;
    }
    for (const mvccpb::Event& event : response.events()) hear_event(follower, event);
    if (response.fragment() && !follower.asked.fragment()) fail("a fragment that was not asked for");
    follower.in_fragment = response.fragment();
    if (response.fragment()) return;
    const Revision revision = response.header().revision();
    if (next_wanted(follower, revision)) fail(absl::StrCat("an event at or below ", revision, " is missing"));
    follower.whole_to = revision + 1;
  }

  void hear_created(Client& client, const pb::WatchResponse& response) {
    if (client.creating.empty()) return fail("created without a request");
    Follower follower = client.creating.front();
    client.creating.erase(client.creating.begin());
    if (response.canceled()) return;
    follower.next = follower.asked.start_revision() != 0 ? follower.asked.start_revision()
                                                         : response.header().revision() + 1;
    follower.whole_to = follower.next;
    client.followers[response.watch_id()] = follower;
  }

  bool wants(const Follower& follower, const kv::Event& event) const {
    const pb::WatchCreateRequest& asked = follower.asked;
    if (event.kv.mod_revision < follower.next) return false;
    for (const int filter : asked.filters()) {
      if (filter == (event.deleted ? pb::WatchCreateRequest::NODELETE : pb::WatchCreateRequest::NOPUT)) return false;
    }
    if (asked.range_end().empty()) return event.kv.key == asked.key();
    return event.kv.key >= asked.key() && (asked.range_end() == kNoEnd || event.kv.key < asked.range_end());
  }

  // The next event that it has not got, up to that revision.
  const kv::Event* next_wanted(const Follower& follower, Revision to) const {
    for (std::size_t i = follower.at; i < history_.all.size() && history_.all[i].kv.mod_revision <= to; ++i) {
      if (wants(follower, history_.all[i])) return &history_.all[i];
    }
    return nullptr;
  }

  void hear_event(Follower& follower, const mvccpb::Event& event) {
    const Revision revision = event.kv().mod_revision();
    if (!follower.in_fragment && revision < follower.whole_to) return fail("an event of a revision that was whole");
    while (follower.at < history_.all.size() && !wants(follower, history_.all[follower.at])) ++follower.at;
    if (follower.at == history_.all.size()) return fail("an event that never was");
    const kv::Event& expected = history_.all[follower.at++];
    const bool deleted = event.type() == mvccpb::Event::DELETE;
    const bool same = expected.deleted == deleted && expected.kv.key == event.kv().key() &&
                      expected.kv.mod_revision == revision && expected.kv.value == event.kv().value() &&
                      expected.kv.version == event.kv().version();
    if (!same) {
      return fail(absl::StrCat("expected ", expected.kv.key, " at ", expected.kv.mod_revision, ", not ",
                               event.kv().key(), " at ", revision));
    }
    const bool has_previous = follower.asked.prev_kv() && expected.has_prev;
    if (event.has_prev_kv() && !has_previous) return fail("a previous value that was not asked for");
    if (has_previous && !event.has_prev_kv() && revision > world_.client.compacted()) return fail("no previous value");
    if (event.has_prev_kv() && event.prev_kv().mod_revision() != expected.prev.mod_revision) {
      fail("another previous value");
    }
  }

  bool all_heard() const {
    const Revision newest = world_.client.newest();
    for (const auto& client : clients_) {
      if (!client->creating.empty()) return false;
      for (const auto& [id, follower] : client->followers) {
        if (!follower.canceled && next_wanted(follower, newest)) return false;
      }
    }
    return true;
  }

  World world_;
  Prng& prng_;
  const std::uint64_t seed_;
  History history_;
  char connections_[3] = {};
  std::vector<std::unique_ptr<Client>> clients_;
  std::string fault_;
};

TEST_CASE("each watch gets what one list of all changes says") {
  for (const std::uint64_t seed : ingot::testing::seeds(40)) Run(seed).go();
}

}  // namespace
}  // namespace ingot::watch
