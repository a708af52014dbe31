// The watches of one loop: who wants which events, from which revision on, and how they get them.
//
// No event is kept for a watch. The replicas have them all, by revision (replication/store/events.h), and a watch is a
// range and a position. Watches that are synced share one reader, the feed: a standing query of the replicas, whose
// answers are matched with all of them at once. A watch whose client does not take its events, or that begins in the
// past, is behind: sweeps read pages of events from its position on, for all that are behind at once, until it is at
// the feed's position. A sweep goes up to the present and then begins again at the lowest position, so no watch waits
// for more than one pass. docs/design/watches.md says why.
//
// Each request of a client waits for the store's revision of a moment after its arrival: one query for all that wait.
//
// Invariants. A position only grows, and a response holds all of its watch's events from the position to the new one.
// An answer counts for a watch if it was asked for when the watch was in its cover (cover_number, behind_since). One
// answer is delivered at a time, in rounds; the feed's position is behind it from its begin on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replication/client/replica_client.h"
#include "services/watch/counters.h"
#include "services/watch/cover.h"
#include "services/watch/event_batch.h"
#include "services/watch/limits.h"
#include "services/watch/room.h"
#include "services/watch/shares.h"
#include "services/watch/watch.h"
#include "services/watch/watch_index.h"
#include "services/watch/wide.h"
#include "transport/pollable.h"

namespace ingot::watch {

// Used by its loop's thread only. To be polled behind the client's answers. It outlives its streams, and the client's
// answers to it.
class Hub final : public Pollable {
 public:
  struct Environment {
    ReplicaClient& client;
    WatchCounters& counters;
    std::function<void(pb::ResponseHeader*)> fill;  // all but the revision
    std::function<Revision()> newest;               // a revision that some replica has reached; it may be stale
    std::function<bool()> has_leader;
    std::uint64_t notify_ms = kNotifyMs;
  };
  explicit Hub(Environment environment)
      : environment_(std::move(environment)), counters_(environment_.counters) {}
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  // For a stream's output. It is named until close(). OK, or RESOURCE_EXHAUSTED.
  grpc::Status open(WatchStream& stream);
  void close(WatchStream& stream);
  void request(WatchStream& stream, pb::WatchRequest&& request, std::size_t bytes);
  // False: WatchOutput::resume() will be called.
  bool takes_requests(WatchStream& stream);
  void writable(WatchStream& stream);

  // Ends all streams. Their clients go on elsewhere, from the last revision they have.
  void end_streams(const grpc::Status& status);

  // Pollable.
  int poll(std::uint64_t now_ns) override;
  bool readable() override { return has_work(); }
  std::uint64_t deadline_ns() const override;

 private:
  // An answer of the store.
  struct Answer {
    kv::EventPosition from;
    kv::EventsResult events;
    std::uint64_t number = 0;  // of the cover, or of the page
  };
  // What the feed has asked for.
  struct Question {
    std::uint64_t cover = 0;
    Revision at_least = 0;
  };
  struct Feed {
    Revision position = 0;      // all before it has been read
    std::uint32_t place = 0;    // within that revision: then it is not for synced watches
    std::uint64_t questions = 0;
    std::optional<Question> under_way;  // the last one; of earlier ones, too, an answer may come
    std::uint64_t heard_cover = 0;      // of the last answer; one for an earlier cover does not count any more
    int places = 0;  // from the nearest replica
    std::uint64_t retry_ns = 0;
    std::optional<Answer> answer;
  };
  struct Sweep {
    Revision position = 0;  // the next pass begins above what is read
    std::uint64_t pages = 0;
    bool under_way = false;
    int places = 0;
    std::uint64_t retry_ns = 0;
    std::optional<Answer> answer;
  };
  struct Pair {
    WatchRef watch;
    std::uint32_t entry;
  };
  // An answer that is being given out.
  struct Delivery {
    bool of_feed = false;
    std::uint64_t number = 0;
    Revision from = 0, to = 0;
    EventBatch batch;
    std::vector<Pair> pairs;  // by watch
    std::size_t next_pair = 0;
  };
  // hub.cc
  bool has_work() const;
  std::size_t watches() const { return shares_.all(Resource::kWatches); }
  int look_at_timers();
  int end_doomed();
  int scan();
  void look_for_lag();
  void notify(Watch& watch);
  Watch* find(const WatchRef& ref) const;
  WatchRef ref(const Watch& watch) const { return {watch.slot, slots_[watch.slot].generation}; }
  void set(Watch& watch, Placement placement);
  void unlink(Watch& watch);
  void place(Watch& watch);
  void fall_behind(Watch& watch, Revision position);
  void unstall(WatchStream& stream);
  void doom(WatchStream& stream, grpc::Status status);
  void remove(Watch& watch);
  void detach(Watch& watch);

  // hub_requests.cc
  int answer_requests();
  void ask_look(RequestKind kind);
  void take_look(const ReplicaReply& reply, RequestKind kind);
  void carry_out(WatchStream& stream, const pb::WatchRequest& request);
  void create(WatchStream& stream, const pb::WatchCreateRequest& request);
  std::optional<std::string> refusal(const WatchStream& stream, const pb::WatchCreateRequest& request);
  void refuse(WatchStream& stream, const std::string& why);
  void cancel(Watch& watch, pb::WatchResponse&& response);
  void send(WatchStream& stream, pb::WatchResponse& response, Revision revision);
  int answer_progress();

  // hub_reading.cc
  int ask();
  bool look_is_due() const;
  bool feed_is_due() const;
  bool page_is_due() const;
  void ask_feed();
  void take_feed(std::uint64_t question, std::uint64_t cover, kv::EventPosition from, const ReplicaReply& reply);
  void ask_page();
  void submit_page(kv::EventsRequest request);
  void take_page(std::uint64_t page, kv::EventPosition from, const ReplicaReply& reply);
  kv::EventsRequest page_request() const;
  void note_compacted(Revision revision);
  Revision wanted_progress() const;

  // hub_delivery.cc
  int deliver();
  void begin_feed(Answer&& answer);
  void begin_page(Answer&& answer);
  bool match(Delivery& delivery);
  void fall_all(const EventBatch& batch, Revision revision);
  bool may_send(Watch& watch, std::size_t bytes);
  std::size_t give(Watch& watch, std::size_t first, std::size_t last);
  void send_events(Watch& watch, std::vector<std::string>&& pieces, std::size_t events, Revision revision,
                   bool fragment);
  void end_page();
  void end_behind(std::uint64_t page, Revision from, Revision to);

  // hub_wide.cc
  void begin_wide(Delivery& first, Revision revision, kv::EventPosition next);
  void take_wide(Answer&& answer);
  void add_wide(EventBatch&& part, kv::EventPosition next);
  bool wants_wide(const Watch& watch) const;
  void too_wide();
  int give_wide();
  bool make_wide_response(Watch& watch);
  void send_wide(Watch& watch);
  void end_wide();

  struct Slot {
    Watch* watch = nullptr;
    std::uint32_t generation = 0;
  };

  const Environment environment_;
  std::uint64_t now_ns_ = 0;
  WatchCounters& counters_;
  Room room_;
  WatchIndex index_;
  Cover cover_;
  bool cover_previous_ = false;    // previous values are asked for
  std::uint64_t cover_number_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  Shares shares_;
  std::vector<WatchStream*> streams_;
  std::size_t leader_streams_ = 0;
  int looks_without_leader_ = 0;

  WatchList behind_;
  std::size_t behind_number_ = 0;
  WatchList fresh_;  // synced, and not in the cover of the feed's last answer

  Feed feed_;
  Sweep sweep_;
  kv::EventsRequest page_request_;  // the last one, but for a wide revision
  bool page_next_ = false;  // of two answers that wait
  std::optional<Delivery> delivery_;
  std::optional<Wide> wide_;

  Revision compacted_ = -1;
  std::optional<std::size_t> compaction_scan_;  // the next slot
  std::optional<std::size_t> notice_scan_;
  std::uint64_t leader_look_ns_ = 0, lag_look_ns_ = 0, notice_ns_ = 0;
  Revision newest_seen_ = 0;

  std::uint64_t arrivals_ = 0;
  bool look_under_way_ = false;
  std::uint64_t look_covers_ = 0;  // arrivals up to here
  std::uint64_t looked_at_ = 0;    // arrivals whose revision is known
  Revision looked_revision_ = 0;   // the store's, and what it had compacted, for these arrivals
  Revision looked_compacted_ = -1;
  std::uint64_t look_retry_ns_ = 0;
  std::size_t parked_bytes_ = 0;
  std::vector<WatchStream*> looking_;    // with parked requests
  std::vector<WatchStream*> held_back_;  // whose requests are not read
  bool parked_left_ = false;             // requests that waited have gone with their stream
  std::vector<WatchStream*> progress_;   // with wants
  std::vector<std::pair<WatchStream*, grpc::Status>> doomed_;
};

}  // namespace ingot::watch
