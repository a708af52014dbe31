// Sends the same random writes, transactions, compactions and watches to two servers of etcd's API, and compares what
// each watch gets: its events in order, with all fields, and how it began and ended. How events are divided into
// responses may differ, but no revision may be divided unless as marked fragments. Exit code 0: no difference. 1: a
// difference, printed with its seed, or a server gave up, as in compare_servers.
//
// A server may take its time with events. So before something that ends watches (a compaction, a cancel), each watch
// gets a write of its own, and the comparison waits until both servers have told of all that it is to tell.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/prng.h"
#include "services/cli/cli.h"
#include "tests/services/etcd/compared_servers.h"
#include "tests/services/etcd/random_requests.h"
#include "tests/services/etcd/watching_server.h"

namespace ingot {
namespace {

namespace pb = etcdserverpb;

constexpr int kStreams = 3;
constexpr std::size_t kWatchesMax = 20;
// That a client chooses.
constexpr std::int64_t kIds[] = {-1'000'000'000'000, -2, 0, 1, 2, 3, 5, 8, 13, 1'000'000'000'000};

// A watch that both servers have.
struct Common {
  pb::WatchCreateRequest request;
  std::int64_t settled = 0;  // the revision of its own last write
};

class Comparison {
 public:
  explicit Comparison(const ComparedServers& servers)
      : a_(servers.a, kStreams),
        b_(servers.b, kStreams),
        prng_(servers.seed),
        requests_(servers.seed ^ 0x5eed, false),
        of_3_6_(servers.of_3_6) {}

  absl::Status run(int count) {
    for (step_ = 0; step_ < count && why_.ok(); ++step_) step();
    if (why_.ok()) settle();
    return why_;
  }

  std::size_t compared() const { return compared_; }
  std::size_t created() const { return created_; }
  std::size_t refused() const { return refused_; }
  std::size_t compacted() const { return canceled_by_compaction_; }

 private:
  using Key = std::pair<int, std::int64_t>;  // stream, id

  void step() {
    const double kind = prng_.unit();
    if (kind < 0.14) return create();
    if (kind < 0.18) return cancel();
    if (kind < 0.21) return progress();
    if (kind < 0.215) return reopen(static_cast<int>(prng_.below(kStreams)));
    KvRequest request = requests_.next();
    if (std::holds_alternative<pb::CompactionRequest>(request)) settle();
    if (why_.ok()) write(request);
  }

  void write(const KvRequest& request) {
    const auto from_a = a_.carry_out(request), from_b = b_.carry_out(request);
    const bool both_refuse = std::holds_alternative<pb::TxnRequest>(request) && !from_a.error.empty() &&
                             !from_b.error.empty();
    if (from_a != from_b && !(of_3_6_ && both_refuse)) {
      const bool gave_up = from_a.error.find("timed out") != std::string::npos;
      if (gave_up) return fail(absl::UnavailableError("the first server gave up"));
      return fail(absl::InternalError("a write: " + from_a.error + " | " + from_b.error));
    }
    revision_ = std::max(revision_, from_a.revision);
    requests_.observe(from_a.revision);
    const auto* compaction = std::get_if<pb::CompactionRequest>(&request);
    if (compaction == nullptr || !from_a.error.empty()) return;
    compacted_ = std::max(compacted_, compaction->revision());
    requests_.observe_compaction(compaction->revision());
  }

  void put(const std::string& key, const std::string& value) {
    pb::PutRequest request;
    request.set_key(key);
    request.set_value(value);
    write(request);
  }

  // Writes that each watch tells of, and the comparison of all. Ended ones are no longer among them.
  void settle() {
    std::int64_t start = 0;
    for (const auto& [key, watch] : watches_) start = std::max(start, watch.request.start_revision());
    while (why_.ok() && revision_ <= start) put("settle", "1");
    std::set<std::string> keys;
    for (const auto& [key, watch] : watches_) keys.insert(first_key(watch.request));
    for (const std::string& key : keys) {
      if (why_.ok()) put(key, "settle");
      note_settled(key, pb::WatchCreateRequest::NOPUT);
      pb::DeleteRangeRequest gone;
      gone.set_key(key);
      if (why_.ok()) write(gone);
      note_settled(key, pb::WatchCreateRequest::NODELETE);
    }
    for (auto at = watches_.begin(); at != watches_.end();) {
      const bool ended = why_.ok() && compare(at->first, at->second);
      if (ended) ended_.push_back(at->first);
      at = ended ? watches_.erase(at) : std::next(at);
    }
  }

  static std::string first_key(const pb::WatchCreateRequest& request) {
    return request.key().empty() ? std::string(1, '\0') : request.key();
  }

  // The last write was of this key, and of the kind that such a filter keeps back.
  void note_settled(const std::string& key, pb::WatchCreateRequest::FilterType filter) {
    for (auto& [id, watch] : watches_) {
      const std::string first = first_key(watch.request), &end = watch.request.range_end();
      const bool to_the_end = end == std::string(1, '\0');
      const bool in_range = end.empty() ? key == first : key >= first && (to_the_end || key < end);
      if (in_range && !filters(watch, filter)) watch.settled = revision_;
    }
  }

  static bool filters(const Common& watch, pb::WatchCreateRequest::FilterType filter) {
    const auto& all = watch.request.filters();
    return std::find(all.begin(), all.end(), filter) != all.end();
  }

  // Of one watch, once both have told of its own last write. True: it has ended.
  bool compare(const Key& key, const Common& watch) {
    const auto& [stream, id] = key;
    const bool both = filters(watch, pb::WatchCreateRequest::NOPUT) && filters(watch, pb::WatchCreateRequest::NODELETE);
    const std::int64_t revision = both ? 0 : watch.settled;
    const bool came_a = a_.stream(stream).wait_for(id, revision), came_b = b_.stream(stream).wait_for(id, revision);
    const WatchLog from_a = a_.stream(stream).take(id, revision), from_b = b_.stream(stream).take(id, revision);
    const std::string what = "stream " + std::to_string(stream) + ", watch {" + watch.request.ShortDebugString() +
                             "} id " + std::to_string(id) + ", up to revision " + std::to_string(revision);
    if (!came_a || !came_b) {
      fail(absl::InternalError(what + ": nothing came from the " + (came_a ? "second" : "first")));
    }
    if (!from_a.broken.empty()) fail(absl::InternalError(what + ": the first: " + from_a.broken));
    if (!from_b.broken.empty()) fail(absl::InternalError(what + ": the second: " + from_b.broken));
    const std::size_t common = std::min(from_a.events.size(), from_b.events.size());
    for (std::size_t i = 0; i < common; ++i) {
      if (from_a.events[i] != from_b.events[i]) {
        fail(absl::InternalError(what + ", event " + std::to_string(i) + ":\n" + from_a.events[i].text + "\n" +
                                 from_b.events[i].text));
        break;
      }
    }
    if (from_a.events.size() != from_b.events.size()) {
      const auto& longer = from_a.events.size() > common ? from_a.events : from_b.events;
      fail(absl::InternalError(what + ": " + std::to_string(from_a.events.size()) + " and " +
                               std::to_string(from_b.events.size()) + " events; the next is " + longer[common].text));
    }
    if (from_a.ended != from_b.ended) {
      fail(absl::InternalError(what + " ended:\n" + from_a.ended + "\n" + from_b.ended));
    }
    compared_ += common;
    canceled_by_compaction_ += !from_a.ended.empty();
    return !from_a.ended.empty();
  }

  void create() {
    if (watches_.size() >= kWatchesMax) return cancel();
    const int stream = static_cast<int>(prng_.below(kStreams));
    pb::WatchRequest request;
    pb::WatchCreateRequest& create = *request.mutable_create_request();
    KvRequest range = requests_.next();
    while (!std::holds_alternative<pb::RangeRequest>(range)) range = requests_.next();
    create.set_key(std::get<pb::RangeRequest>(range).key());
    create.set_range_end(std::get<pb::RangeRequest>(range).range_end());
    create.set_start_revision(start());
    create.set_prev_kv(prng_.chance(0.5));
    create.set_fragment(prng_.chance(0.2));
    create.set_progress_notify(prng_.chance(0.1));
    if (prng_.chance(0.1)) create.add_filters(pb::WatchCreateRequest::NOPUT);
    if (prng_.chance(0.1)) create.add_filters(pb::WatchCreateRequest::NODELETE);
    // Of such a watch only a start in the present tells that it is not behind when something is compacted.
    if (create.filters_size() == 2) create.set_start_revision(0);
    if (prng_.chance(0.4)) create.set_watch_id(kIds[prng_.below(std::size(kIds))]);
    if (!ask(stream, request)) return;
    const std::int64_t id = a_.stream(stream).created_id();
    refused_ += id == -1;
    if (id == -1) return;
    ++created_;
    watches_[{stream, id}] = {create, 0};
  }

  // From the present on, from a revision that is kept, compacted or to come. Not from the compacted one itself, whose
  // deletes etcd 3.4 has lost and Ingot has not, nor from a negative one, which Ingot refuses as newer versions do.
  std::int64_t start() {
    const double kind = prng_.unit();
    if (kind < 0.5) return 0;
    if (kind < 0.6) return revision_ + 1 + static_cast<std::int64_t>(prng_.below(3));
    if (kind < 0.65 && compacted_ > 1) return 1 + static_cast<std::int64_t>(prng_.below(compacted_ - 1));
    return compacted_ + 1 + static_cast<std::int64_t>(prng_.below(revision_ - compacted_ + 1));
  }

  // Of a watch, or of one that the servers have ended: its id is in use until then.
  void cancel() {
    settle();
    if (!why_.ok()) return;
    Key key;
    if (!ended_.empty() && prng_.chance(0.3)) {
      const auto at = std::next(ended_.begin(), static_cast<std::ptrdiff_t>(prng_.below(ended_.size())));
      key = *at;
      ended_.erase(at);
    } else if (!watches_.empty()) {
      const auto at = std::next(watches_.begin(), static_cast<std::ptrdiff_t>(prng_.below(watches_.size())));
      key = at->first;
      watches_.erase(at);
    } else {
      return;
    }
    const auto [stream, id] = key;
    pb::WatchRequest request;
    request.mutable_cancel_request()->set_watch_id(id);
    ask(stream, request);
    if (!prng_.chance(0.3)) return;
    a_.stream(stream).send(request);  // an id that is not there: no answer
    b_.stream(stream).send(request);
  }

  void progress() {
    if (prng_.chance(0.5)) settle();
    if (of_3_6_) return;
    pb::WatchRequest request;
    request.mutable_progress_request();
    ask(static_cast<int>(prng_.below(kStreams)), request);
  }

  void reopen(int stream) {
    a_.reopen(stream);
    b_.reopen(stream);
    std::erase_if(watches_, [&](const auto& watch) { return watch.first.first == stream; });
    std::erase_if(ended_, [&](const Key& key) { return key.first == stream; });
  }

  // Both, at one after the other. False: they differ.
  bool ask(int stream, const pb::WatchRequest& request) {
    const std::string from_a = a_.stream(stream).ask(request), from_b = b_.stream(stream).ask(request);
    if (from_a == from_b) return true;
    fail(absl::InternalError(request.ShortDebugString() + ":\n" + from_a + "\n" + from_b));
    return false;
  }

  void fail(absl::Status why) {
    if (why_.ok()) why_ = std::move(why);
  }

  WatchingServer a_, b_;
  Prng prng_;
  RandomRequests requests_;
  const bool of_3_6_;
  int step_ = 0;
  absl::Status why_;
  std::int64_t revision_ = 1, compacted_ = 0;
  std::map<Key, Common> watches_;
  std::vector<Key> ended_;  // by a compaction, and not canceled since
  std::size_t compared_ = 0, created_ = 0, refused_ = 0, canceled_by_compaction_ = 0;
};

absl::Status compare(const ComparedServers& servers) {
  Comparison comparison(servers);
  const absl::Status status = comparison.run(servers.count);
  std::printf("seed %llu: %zu watches, %zu refused, %zu ended by compactions; %zu events compared: %s\n",
              static_cast<unsigned long long>(servers.seed), comparison.created(), comparison.refused(),
              comparison.compacted(), comparison.compared(),
              status.ok() ? "no difference" : std::string(status.message()).c_str());
  return status;
}

}  // namespace
}  // namespace ingot

int main(int argc, char** argv) {
  CLI::App app("Compares the watches of two servers of etcd's API. Both must be empty.");
  ingot::ComparedServers servers;
  servers.add_flags(app);
  servers.add_3_6_flag(app);
  return ingot::run_cli(app, argc, argv, [&] { return ingot::compare(servers); });
}
