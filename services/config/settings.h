// Every setting of ingotd, in one table. What follows from a row:
//
//   a member of DaemonConfig or SccConfig, with its default         services/config/daemon_config.h, scc_config.h
//   a flag of ingotd, its environment variable and its help         services/ingotd/flags.h
//   an entry of the launch document                                 services/config/config_message.h
//   whether a new supervisor must be given the same value           services/supervision/flag_agreement.h
//   the status and the labels of the metric ingot_build_info        services/status/status.h, services/metrics
//   an entry of a recording's head                                  services/scc/recording.h
//   a row of docs/configuration.md, which a test compares
//
// X(type, member, flag, default, range, uses, help). The type is bool, int, std::int64_t, std::uint64_t, std::string,
// std::vector<int> or an enumeration with names (core/enum_names.h); ranges and uses are those of setting.h.
#pragma once

#include <cstdint>

#include "core/limits.h"
#include "replication/requests/limits.h"
#include "replication/store/limits.h"
#include "services/config/limits.h"

// The settings of every backend.
#define INGOT_DAEMON_SETTINGS(X)                                                                                      \
  X(int, replicas, "--replicas", 3, between(1, kReplicasMax), kIdentity | kRecorded,                                  \
    absl::StrCat("copies of the state, 1 to ", kReplicasMax))                                                         \
  X(int, voters, "--voters", 0, within(0, kVotersMax), kIdentity | kRecorded,                                         \
    absl::StrCat("replicas that may lead, accept and vote, 1 to ", kVotersMax, "; 0: as many as replicas, at most ",  \
                 kVotersDefault))                                                                                     \
  X(AgreementKind, agreement, "--agreement", AgreementKind::kOnePaxos, any(),                                         \
    kIdentity | kRecorded | kStatus | kLabel,                                                                         \
    "how replicas agree on writes: " + choices_of<AgreementKind>(any()))                                              \
  X(bool, fence, "--fence", false, any(), kIdentity | kRecorded,                                                      \
    "1Paxos: kill a stopped acceptor when only its end lets the group go on, instead of waiting for it")              \
  X(TransportKind, transport, "--transport", TransportKind::kNvp, any(), kIdentity | kRecorded | kStatus | kLabel,    \
    "how messages travel between cores: " + choices_of<TransportKind>(any()))                                         \
  X(Backend, backend, "--backend", Backend::kShm, any(), kIdentity | kStatus | kLabel,                                \
    "the machine below: shm (this one's shared memory) or scc (a simulated Intel SCC)")                               \
  X(Isolation, isolation, "--isolation", Isolation::kProcess, first(2), kIdentity | kStatus | kLabel | kHostOnly,     \
    "replicas as processes or as threads of one: " + choices_of<Isolation>(first(2)))                                 \
  X(std::string, tree, "--tree", "best", text_like("shape"), kIdentity | kRecorded,                                   \
    "shape of the trees that broadcasts travel on: best, star, two-level, or a planner of `ingotctl plan`")           \
  X(std::string, machine, "--machine", "", text_like("FILE"), kIdentity | kHostOnly,                                  \
    "machine file that trees are planned from; default: derived from this machine's topology")                        \
  X(std::string, listen, "--listen", "127.0.0.1:2379", address(), kIdentity | kStatus,                                \
    "HOST:PORT of the gRPC API; port 0 takes a free one; empty is refused")                                           \
  X(std::string, socket, "--socket", kAutomaticSocket, socket_path(), kIdentity | kStatus,                            \
    "path of the Unix socket of the gRPC API, on which alone drills and moves are taken; auto: NAME.sock in "         \
    "/run/ingot or, where that cannot be, in $XDG_RUNTIME_DIR/ingot; empty: none")                                    \
  X(std::string, socket_mode, "--socket-mode", "0660", socket_mode(), kIdentity,                                      \
    "who may connect to the Unix socket: the rights of its file")                                                     \
  X(std::string, socket_group, "--socket-group", "", written("GROUP"), kIdentity,                                     \
    "group of the Unix socket's file; default: that of this process")                                                 \
  X(bool, allow_remote_drills, "--allow-remote-drills", false, any(), kIdentity,                                      \
    "take drills and moves from every caller, by TCP, too: for test machines only")                                   \
  X(std::string, metrics_listen, "--metrics-listen", "127.0.0.1:9464", text_like("HOST:PORT or empty"),               \
    kIdentity | kStatus,                                                                                              \
    "HOST:PORT of the Prometheus metrics; port 0 takes a free one; empty: no metrics")                                \
  X(std::string, name, "--name", "", instance_name(), kStatus, "name of this instance; default: ingot-PORT")          \
  X(std::string, etcd_version, "--etcd-version", kEtcdVersionDefault, version(), kIdentity,                           \
    "the etcd version that clients are told")                                                                         \
  X(int, front_end_loops, "--front-end-loops", 0, between(0, kFrontEndLoopsMax), kIdentity | kHostOnly,               \
    absl::StrCat("loops that serve clients, each a thread with its share of the connections, 1 to ",                  \
                 kFrontEndLoopsMax, "; 0: by the machine's processors, 1 on up to four"))                             \
  X(std::int64_t, front_end_timeout_ms, "--front-end-timeout", 10'000, duration(), kIdentity | kHostOnly,             \
    "how long the front end may answer nothing, stopped or not, before it is killed and started again; 0: for ever")  \
  X(std::int64_t, orphan_grace_ms, "--orphan-grace", 30'000, duration(), kIdentity,                                   \
    "how long everything goes on without this process, until another ingotd of the same name and flags attaches; "    \
    "0: not at all")                                                                                                  \
  X(std::int64_t, quota_backend_bytes, "--quota-backend-bytes", 0, bytes(INT64_MIN, INT64_MAX),                       \
    kIdentity | kRecorded | kRecordedLater,                                                                           \
    "bytes that the store may hold, as it counts them; beyond it puts are refused, and the NOSPACE alarm stands "     \
    "until it is disarmed; 0: by the memory that there is; negative: any number")                                     \
  X(AutoCompactionMode, auto_compaction_mode, "--auto-compaction-mode", AutoCompactionMode::kPeriodic, any(),         \
    kIdentity | kHostOnly,                                                                                            \
    "what automatic compaction keeps: periodic (history by age) or revision (so many revisions)")                     \
  X(std::string, auto_compaction_retention, "--auto-compaction-retention", "0", text_like("number or duration"),      \
    kIdentity | kHostOnly,                                                                                            \
    "how much it keeps: hours or a duration, or a number of revisions; 0: there is none")                             \
  X(std::string, advertise_client_urls, "--advertise-client-urls", "", client_urls(), kIdentity,                      \
    "where clients find this instance, as its list of members says, with commas; default: http:// and --listen")      \
  X(std::int64_t, max_request_bytes, "--max-request-bytes", kRequestBytesMax, bytes(1, kRequestBytesMax), kIdentity,  \
    absl::StrCat("longest write that is taken, 1 to ", kRequestBytesMax, " bytes"))                                   \
  X(int, max_txn_ops, "--max-txn-ops", kTxnOperationsMax, between(1, kTxnOperationsMax), kIdentity,                   \
    absl::StrCat("most operations of a transaction, 1 to ", kTxnOperationsMax))                                       \
  X(std::int64_t, max_concurrent_streams, "--max-concurrent-streams", kConcurrentStreamsMax,                          \
    between(kConcurrentStreamsMin, 4'294'967'295), kIdentity,                                                         \
    absl::StrCat("most calls of a connection at a time, from ", kConcurrentStreamsMin, " on; never more than ",       \
                 kConcurrentStreamsMax))                                                                              \
  X(std::int64_t, watch_progress_notify_interval_ms, "--watch-progress-notify-interval", 600'000, duration(),         \
    kIdentity,                                                                                                        \
    "after how long without events a watch that asked for it is told the revision, at least 100ms")                   \
  X(MetricsDetail, metrics, "--metrics", MetricsDetail::kBasic, any(), kIdentity,                                     \
    "basic, or extensive: with the durations of calls by etcd's name, too")                                           \
  X(ViewMode, view, "--view", ViewMode::kAuto, any(), kIdentity | kHostOnly,                                          \
    "when other processes can read the keys in place: auto (from the first connection to the view socket on), "       \
    "always or off")                                                                                                  \
  X(std::int64_t, view_bytes, "--view-bytes", 0, number(0, kViewBytesLimitMax, "BYTES"), kIdentity | kHostOnly,       \
    "memory that a view may take, twice while it is made anew; 0: as much as its keys need")                          \
  X(std::string, view_users, "--view-users", "", written("USER,..."), kIdentity | kHostOnly,                          \
    "users, by name or number, who may read the view besides this one and root")                                      \
  X(std::string, view_groups, "--view-groups", "", written("GROUP,..."), kIdentity | kHostOnly,                       \
    "groups, by name or number, whose members may read the view")                                                     \
  X(int, kept_segments_mib, "--kept-segments-mib", 1024, between(1, 1'048'576), kIdentity,                            \
    absl::StrCat(                                                                                                     \
        "memory for what ended replicas have stored and no snapshot holds yet, in MiB; beyond it, or beyond ",        \
        kKeptSegmentsMax, " segments, writes wait for one"))                                                          \
  X(std::string, restore, "--restore", "", written("FILE"), kHostOnly | kFlagOnly,                                    \
    "begin with the state of this snapshot (ingotctl snapshot save), in a new cluster with the same revisions")       \
  X(std::int64_t, bump_revision, "--bump-revision", 0, number(0, kBumpRevisionMax, "N"), kHostOnly | kFlagOnly,       \
    "with --restore: revisions go on from so many higher, above all that were lost since the snapshot")               \
  X(bool, mark_compacted, "--mark-compacted", false, any(), kHostOnly | kFlagOnly,                                    \
    "with --bump-revision: all revisions up to there count as compacted, so that watches and caches begin anew")      \
  X(LogThreshold, log_level, "--log-level", LogThreshold::kInfo, any(), kIdentity,                                    \
    "which lines of the log are written: those from this level on")                                                   \
  X(LogFormat, log_format, "--log-format", LogFormat::kText, any(), kIdentity,                                        \
    "how lines of the log on standard error are written: " + choices_of<LogFormat>(any()))

// The settings of the simulated chip alone (--backend=scc); every flag begins with --scc-.
#define INGOT_SCC_SETTINGS(X)                                                                                         \
  X(std::vector<int>, cores, "--scc-cores", {}, written("CORE,..."), kRecorded,                                       \
    "core of each replica, 0 to 47, comma-separated; default: spread over the mesh")                                  \
  X(int, gateway, "--scc-gateway", -1, number(0, 47, "CORE"), kRecorded,                                              \
    "core where requests enter and leave; default: a free one amid the replicas")                                     \
  X(std::string, clocks, "--scc-clocks", "533/800/800", clocks(), kRecorded, "MHz of cores, mesh and memory")         \
  X(scc::CostModel, cost_model, "--scc-cost-model", scc::CostModel::kLogP, any(), kRecorded,                          \
    "how writes to message buffers are charged: " + choices_of<scc::CostModel>(any()))                                \
  X(std::uint64_t, seed, "--scc-seed", 1, written("NUMBER"), kRecorded,                                               \
    "decides who goes first among cores at the same virtual time")                                                    \
  X(std::uint64_t, cycles_per_message, "--scc-cycles-per-message", 2000, number(0, kCyclesPerMessageMax, "NUMBER"),   \
    kRecorded, "core cycles charged for each message that is handled; an assumption")                                 \
  X(std::string, record, "--scc-record", "", written("FILE"), kNone,                                                  \
    "write every input with its virtual time to a new file")                                                          \
  X(std::string, replay, "--scc-replay", "", written("FILE"), kFlagOnly,                                              \
    "run a recording again, compare, print where it ended, and leave")

// Within a struct: its members.
#define INGOT_SETTING_MEMBER(type, member, flag, initial, range, uses, help) type member = initial;
// Within a function: visit(Setting<Config, type>) for one row.
#define INGOT_SETTING_VISIT(type, member, flag, initial, range, uses, help)                                           \
  visit(Setting<Config, type>{&Config::member, #member, flag, initial, range, uses, help});
