#include <cstring>

#include "core/check.h"
#include "core/stable_hash.h"
#include "core/wire.h"
#include "replication/replica/applier.h"
#include "replication/replica/snapshots/limits.h"
#include "replication/replica/snapshots/transfer.h"
#include "replication/store/kv_store.h"
#include "services/backup/load.h"
#include "services/backup/sha256.h"
#include "tests/fuzz/targets.h"

namespace ingot::fuzz {
namespace {

const EndpointId kPeer(0);

// A state with some sessions.
void fill(Applier& applier, Prng& rng) {
  for (int i = 0; i < 5; ++i) applier.apply(applier.applied(), sample_batch(rng), [](const Applier::Applied&) {});
}

// Corrects the checksum of a replica's snapshot, if the lengths in it allow that.
void mend_checksum(std::string& content) {
  WireReader in(content);
  in.raw(16);
  in.raw(in.u64());
  const std::size_t first = content.size() - in.remaining();
  if (in.failed() || in.remaining() < sizeof(std::uint64_t)) return;
  const std::uint64_t checksum = hash_bytes(std::string_view(content).substr(0, first));
  std::memcpy(content.data() + first, &checksum, sizeof checksum);
}

void check_part(const SnapshotMessage& message) {
  if (message.type != SnapshotMessageType::kPart) return;
  INGOT_CHECK(!message.data.empty() && message.offset + message.data.size() <= message.name.bytes);
}

}  // namespace

void run_snapshot_message(std::string_view bytes) {
  const auto message = decode_snapshot_message(bytes);
  if (!message) return;
  INGOT_CHECK(encode(*message) == bytes, "a message has one encoding");
  check_part(*message);
  const auto send = [](EndpointId, std::string answer) {
    INGOT_CHECK(decode_snapshot_message(answer).has_value(), "what is said decodes");
  };
  SnapshotReader reader(Incarnation(1));
  reader.start(Slot(3), {kPeer, EndpointId(1)}, send);
  for (int i = 0; i < 3; ++i) reader.receive(kPeer, *message, send);
  INGOT_CHECK(!reader.complete() || read_snapshot(reader.take().bytes()).ok(), "only a whole file is handed out");
  SnapshotServer server;
  const auto file = std::make_shared<const std::string>(snapshot_header(Slot(9), "content") + "content");
  if (bytes.size() % 2 == 0) {
    server.offer(std::make_shared<const SnapshotServer::File>(
                     SnapshotServer::File{read_snapshot(*file)->name, *file, file}), send);
  }
  for (int i = 0; i < 2; ++i) {
    server.receive(EndpointId(1), *message, Slot(9), Slot(2), send);
    server.send_parts([](EndpointId) { return true; }, send);
  }
  server.none(send);
}

std::string sample_snapshot_message(Prng& rng) {
  const std::string content(rng.below(50), 'c');
  const std::string file = snapshot_header(Slot(9), content) + content;
  SnapshotMessage message;
  message.type = static_cast<SnapshotMessageType>(1 + rng.below(4));
  message.incarnation = Incarnation(1);
  message.round = 1;
  if (message.type == SnapshotMessageType::kAsk) message.above = Slot(rng.below(12));
  const bool part = message.type == SnapshotMessageType::kPart;
  if (part || (message.type == SnapshotMessageType::kAsk && rng.chance(0.5))) {
    message.name = read_snapshot_header(file)->name;
    if (content.empty()) message.name.bytes = file.size() + 1;
  }
  if (part)
    message.data =
        rng.chance(0.5) ? std::string_view(file) : std::string_view(file).substr(0, 1 + rng.below(file.size()));
  return encode(message);
}

void run_snapshot_file(std::string_view bytes) {
  static_cast<void>(read_snapshot(bytes).ok());
  std::string content(bytes.substr(std::min(bytes.size(), kSnapshotHeaderBytes)));
  mend_checksum(content);
  const std::string file = snapshot_header(Slot(3), content) + content;
  const auto read = read_snapshot(file);
  INGOT_CHECK(read.ok() && read->content == content, "what is written is read");
  kv::KvStore store;
  Applier applier(store);
  Prng rng(1);
  fill(applier, rng);
  const std::uint64_t digest = applier.digest();
  if (!applier.load(read->content).ok()) {
    INGOT_CHECK(applier.digest() == digest && applier.applied() == Slot(5), "a refused snapshot changes nothing");
    return;
  }
  INGOT_CHECK(applier.save() == content, "a state has one snapshot");
  fill(applier, rng);
}

std::string sample_snapshot_file(Prng& rng) {
  kv::KvStore store;
  Applier applier(store);
  fill(applier, rng);
  const std::string content = applier.save();
  return snapshot_header(applier.applied(), content) + content;
}

// First the bytes as they are, which no checksum fits, then with one that does.
void run_backup_file(std::string_view bytes) {
  kv::KvStore store;
  static_cast<void>(load_backup(bytes, store).ok());
  if (bytes.size() < kBackupHeaderBytes + kSha256Bytes) return;
  std::string file(bytes.substr(0, bytes.size() - kSha256Bytes));
  Sha256 hash;
  hash.add(file);
  file += hash.digest();
  kv::KvStore loaded;
  const auto read = load_backup(file, loaded);
  INGOT_CHECK(loaded.compute_digest() == loaded.digest(), "whatever is read, a state is whole");
  if (!read.ok()) return;
  INGOT_CHECK(loaded.save() == read->content, "a state has one content");
  loaded.begin_anew(1, true);
  INGOT_CHECK(loaded.compute_digest() == loaded.digest(), "what begins anew is whole");
  Applier applier(loaded);
  Prng rng(1);
  fill(applier, rng);
}

std::string sample_backup_file(Prng& rng) {
  kv::KvStore store;
  Applier applier(store);
  fill(applier, rng);
  const std::string content = store.save();
  std::string file = encode(BackupHeader{.cluster_id = 1,
                                         .made_unix_ms = 2,
                                         .revision = store.revision(),
                                         .compacted = store.compact_revision(),
                                         .records = 0,
                                         .content_bytes = content.size()});
  file += content + std::string(backup_padding_bytes(content.size()), '\0');
  return file + std::string(kSha256Bytes, '\0');
}

}  // namespace ingot::fuzz
