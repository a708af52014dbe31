// Watches, the groups of those with equal ranges, and the streams that hold them.
#pragma once

#include <algorithm>
#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/status.h>

#include "absl/container/flat_hash_map.h"
#include "proto/etcd/rpc.pb.h"
#include "replication/store/api.h"

namespace ingot::watch {

inline constexpr std::string_view kNoEnd("\0", 1);  // the end of a range of all keys from its begin on

using kv::Revision;
namespace pb = etcdserverpb;

// A client's end of a stream. Its functions do not call back.
class WatchOutput {
 public:
  virtual void send(std::vector<std::string> pieces) = 0;  // of one encoded WatchResponse
  virtual std::size_t pending_bytes() const = 0;           // sent, and not taken yet
  virtual void tell_below(std::size_t bytes) = 0;          // Hub::writable is to be called when less is pending
  virtual void resume() = 0;                               // requests are taken again
  virtual const void* connection() const = 0;
  virtual std::string peer() const = 0;  // who is at the connection's other end, for people; asked while it is open

  // The stream is over. May destroy the stream, and so call Hub::close.
  virtual void finish(const grpc::Status& status) = 0;

 protected:
  ~WatchOutput() = default;
};

// kSynced: gets what the feed reads. kBehind: waits for a sweep. kStalled: its stream has no room, or waits for a turn.
enum class Placement : std::uint8_t { kSynced, kBehind, kStalled };

using Hook = boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

struct Group;
struct Holder;
struct WatchStream;

struct Watch {
  std::int64_t id = 0;
  Group* group = nullptr;
  WatchStream* stream = nullptr;
  std::uint32_t slot = 0;
  Placement placement = Placement::kStalled;
  bool prev_kv = false;
  bool fragment = false;
  bool progress_notify = false;
  bool no_put = false;
  bool no_delete = false;
  bool told = false;               // something since the last look for notices
  // The next revision that it has not been given; of a synced one the greater of this and the feed's.
  Revision position = 0;
  std::uint64_t cover_number = 0;  // of the first cover that holds its range
  std::uint64_t behind_since = 0;  // pages asked for before; later ones are for it
  Hook in_group;                   // of its placement
  Hook in_list;                    // behind, or fresh: the hub's; stalled: its stream's

  bool wants(bool deleted) const { return deleted ? !no_delete : !no_put; }
};

using GroupWatches = boost::intrusive::list<Watch, boost::intrusive::member_hook<Watch, Hook, &Watch::in_group>,
                                            boost::intrusive::constant_time_size<false>>;
using WatchList = boost::intrusive::list<Watch, boost::intrusive::member_hook<Watch, Hook, &Watch::in_list>,
                                         boost::intrusive::constant_time_size<false>>;

// The watches of one range.
struct Group {
  std::string key;
  std::string range_end;  // as in a request: empty: one key; "\0": all from `key` on
  std::size_t watches = 0;
  bool sorted = false;    // the index's
  GroupWatches synced;
  GroupWatches behind;

  bool holds(std::string_view wanted) const {
    if (range_end.empty()) return wanted == key;
    return wanted >= key && (range_end == kNoEnd || wanted < range_end);
  }
};

// Names a watch as long as it is there.
struct WatchRef {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
};

// A request that waits until the store's revision of a moment after its arrival is known.
struct Parked {
  pb::WatchRequest request;
  std::uint64_t arrival = 0;
  std::size_t bytes = 0;
};

struct WatchStream {
  explicit WatchStream(WatchOutput& output) : output(output) {}

  WatchOutput& output;
  Holder* holder = nullptr;    // from Hub::open to Hub::close
  bool needs_leader = false;
  bool has_turn = false;       // a response above twice the share is on its way
  bool granted = false;        // the next such response may be its
  bool waits_for_turn = false;  // is in its holder's line
  Hook in_line;
  bool held_back = false;      // its requests are not read
  bool waits_for_room = false;  // likewise, until it has room for the answers
  bool waits_for_look = false;
  bool wants_progress = false;
  std::int64_t next_id = 0;
  std::size_t not_synced = 0;  // of its watches
  absl::flat_hash_map<std::int64_t, std::unique_ptr<Watch>> watches;
  // Of watches that the server has ended and the client has not canceled, oldest first. As with etcd they are in use,
  // so that a cancel that crosses the server's never ends another watch.
  std::vector<std::int64_t> ended_ids;
  WatchList stalled;
  std::deque<Parked> parked;
  std::deque<Revision> progress;  // wanted behind all events up to these

  bool uses(std::int64_t id) const {
    return watches.contains(id) || std::find(ended_ids.begin(), ended_ids.end(), id) != ended_ids.end();
  }
};

using StreamList =
    boost::intrusive::list<WatchStream, boost::intrusive::member_hook<WatchStream, Hook, &WatchStream::in_line>,
                           boost::intrusive::constant_time_size<false>>;

// What all connections need, and one may have a share of (shares.h).
enum class Resource : std::uint8_t { kStreams, kWatches, kKeyBytes };
inline constexpr std::size_t kResources = 3;

// A connection that has streams, and what these hold together.
struct Holder {
  const void* connection = nullptr;
  std::string name;
  std::array<std::size_t, kResources> held{};
  std::size_t turns = 0;  // of its streams, and grants
  StreamList line;        // its streams that wait for a turn
  Hook in_line;           // while there are such streams

  std::size_t of(Resource what) const { return held[static_cast<std::size_t>(what)]; }
};

using HolderList = boost::intrusive::list<Holder, boost::intrusive::member_hook<Holder, Hook, &Holder::in_line>,
                                          boost::intrusive::constant_time_size<false>>;

}  // namespace ingot::watch
