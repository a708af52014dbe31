#include "replication/replica/snapshots/transfer.h"

#include <algorithm>
#include <utility>

#include "core/check.h"
#include "replication/replica/snapshots/limits.h"

namespace ingot::inline replication_replica_snapshots {

// ---- The side that needs a snapshot ---------------------------------------------------------------------------------

void SnapshotReader::start(Slot above, std::vector<EndpointId> peers, SendSnapshotMessage send) {
  if (active_) return;
  give_up();
  active_ = true;
  above_ = above;
  peers_ = std::move(peers);
  asked_ = 0;
  ask_next(send);
}

void SnapshotReader::give_up() {
  active_ = complete_ = false;
  forget_file();
}

void SnapshotReader::forget_file() {
  name_ = {};
  checksum_ = {};
  confirmed_ = 0;
  ReceivedFile file = std::exchange(file_, {});
  if (let_go_ && file.size() > 0) let_go_(std::move(file));
}

ReceivedFile SnapshotReader::take() {
  INGOT_CHECK(complete_, "only a whole file is handed out");
  ReceivedFile file = std::exchange(file_, {});
  give_up();
  return file;
}

void SnapshotReader::ask_next(SendSnapshotMessage send) {
  if (asked_ == peers_.size()) return give_up();
  ++asked_;
  ask(send);
}

// Begins a round: answers to earlier ones are late from now on.
void SnapshotReader::ask(SendSnapshotMessage send) {
  ++round_;
  named_ = advanced_ = false;
  silent_ticks_ = fruitless_ticks_ = 0;
  send_ask(send);
}

// Asks, or confirms what has arrived.
void SnapshotReader::send_ask(SendSnapshotMessage send) {
  confirmed_ = file_.size();
  send(peers_[asked_ - 1], encode({.type = SnapshotMessageType::kAsk, .incarnation = self_, .round = round_,
                                   .above = above_, .name = name_, .offset = file_.size(), .data = {}}));
}

void SnapshotReader::receive(EndpointId from, const SnapshotMessage& message, SendSnapshotMessage send) {
  const bool ours = message.type != SnapshotMessageType::kAsk && message.incarnation == self_;
  const bool asked_for = ours && asked_ > 0 && from == peers_[asked_ - 1] && message.round == round_;
  if (asked_for && !active_) return;  // it was on its way when the transfer was given up
  if (!asked_for) {
    ++refused_;
    return;
  }
  silent_ticks_ = 0;
  if (message.type == SnapshotMessageType::kNone) return ask_next(send);
  if (message.type == SnapshotMessageType::kPart) take_part(message, send);
}

void SnapshotReader::take_part(const SnapshotMessage& part, SendSnapshotMessage send) {
  const bool same = part.name == name_;
  if ((named_ && !same) || part.name.slot <= above_) {
    ++refused_;
    forget_file();
    return ask_next(send);
  }
  if (!same) {
    forget_file();
    name_ = part.name;
  }
  named_ = true;
  if (part.offset != file_.size()) {  // earlier parts were lost; or, if the round's first part, it is nonsense
    ++refused_;
    return advanced_ ? ask(send) : ask_next(send);
  }
  if (!append(part.data)) return ask_next(send);
  advanced_ = true;
  fruitless_ticks_ = 0;
  if (file_.size() == name_.bytes) return finish(send);
  if (file_.size() - confirmed_ < bounds_.confirm_bytes) return;
  send_ask(send);
}

// Returns false if there is no memory for the part.
bool SnapshotReader::append(std::string_view part) {
  if (!file_.append(part, name_.bytes)) return false;
  const std::size_t header = kSnapshotHeaderBytes - std::min(kSnapshotHeaderBytes, file_.size() - part.size());
  checksum_.add(part.substr(std::min(header, part.size())));
  return true;
}

void SnapshotReader::finish(SendSnapshotMessage send) {
  const auto read = read_snapshot_header(file_.bytes());
  if (!read.ok() || read->name != name_ || checksum_.value() != name_.checksum) {
    ++refused_;
    forget_file();
    return ask_next(send);
  }
  send_ask(send);
  active_ = false;
  complete_ = true;
}

void SnapshotReader::peer_gone(EndpointId peer, SendSnapshotMessage send) {
  if (active_ && peers_[asked_ - 1] == peer) ask_next(send);
}

void SnapshotReader::tick(SendSnapshotMessage send) {
  if (!active_) return;
  ++silent_ticks_;
  ++fruitless_ticks_;
  if (silent_ticks_ >= bounds_.silent_ticks || fruitless_ticks_ >= bounds_.fruitless_ticks) ask_next(send);
}

// ---- The side that has a snapshot -----------------------------------------------------------------------------------

SnapshotMessage SnapshotServer::answer(const Reader& reader, SnapshotMessageType type) {
  SnapshotMessage message;
  message.type = type;
  message.incarnation = reader.incarnation;
  message.round = reader.round;
  return message;
}

void SnapshotServer::receive(EndpointId from, const SnapshotMessage& message, Slot applied, Slot useful_from,
                             SendSnapshotMessage send) {
  const auto known = readers_.find(from);
  const bool late = known != readers_.end() && message.incarnation < known->second.incarnation;
  if (message.type != SnapshotMessageType::kAsk || late) {
    ++refused_;
    return;
  }
  const bool same_round = known != readers_.end() && message.incarnation == known->second.incarnation &&
                          message.round == known->second.round;
  if (!same_round) return begin(from, message, applied, useful_from, send);
  if (!confirm(known->second, message)) {
    ++refused_;
    return;
  }
  if (known->second.confirmed == known->second.file->name.bytes) readers_.erase(known);
}

bool SnapshotServer::confirm(Reader& reader, const SnapshotMessage& ask) {
  if (reader.file == nullptr || ask.name != reader.file->name || ask.offset > reader.sent) return false;
  reader.confirmed = std::max(reader.confirmed, ask.offset);
  reader.silent_ticks = 0;
  return true;
}

void SnapshotServer::begin(EndpointId from, const SnapshotMessage& ask, Slot applied, Slot useful_from,
                           SendSnapshotMessage send) {
  Reader reader{.incarnation = ask.incarnation, .round = ask.round, .above = ask.above, .file = nullptr};
  const auto before = readers_.find(from);
  const auto continues = [&](const std::shared_ptr<const File>& file) {
    return file != nullptr && file->name == ask.name;
  };
  if (before != readers_.end() && continues(before->second.file)) reader.file = before->second.file;
  else if (continues(newest_)) reader.file = newest_;
  if (reader.file != nullptr) {
    reader.sent = reader.confirmed = ask.offset;
  } else if (newest_ != nullptr && newest_->name.slot > ask.above && newest_->name.slot >= useful_from) {
    reader.file = newest_;
  } else if (applied <= ask.above) {
    readers_.erase(from);
    return send(from, encode(answer(reader, SnapshotMessageType::kNone)));
  } else {
    send(from, encode(answer(reader, SnapshotMessageType::kWait)));
  }
  readers_[from] = std::move(reader);
}

void SnapshotServer::offer(std::shared_ptr<const File> file, SendSnapshotMessage send) {
  newest_ = std::move(file);
  for (auto at = readers_.begin(); at != readers_.end();) {
    Reader& reader = at->second;
    const bool helps = reader.file != nullptr || newest_->name.slot > reader.above;
    if (!helps) send(at->first, encode(answer(reader, SnapshotMessageType::kNone)));
    if (helps && reader.file == nullptr) reader.file = newest_;
    at = helps ? std::next(at) : readers_.erase(at);
  }
}

bool SnapshotServer::wanted() const {
  return std::any_of(readers_.begin(), readers_.end(), [](const auto& each) { return each.second.file == nullptr; });
}

void SnapshotServer::none(SendSnapshotMessage send) {
  std::erase_if(readers_, [&](const auto& each) {
    if (each.second.file != nullptr) return false;
    send(each.first, encode(answer(each.second, SnapshotMessageType::kNone)));
    return true;
  });
}

int SnapshotServer::send_parts(absl::FunctionRef<bool(EndpointId)> ready, SendSnapshotMessage send) {
  int sent = 0;
  for (bool any = true; any && sent < bounds_.parts_per_round;) {
    any = false;
    for (std::size_t i = 0; i < readers_.size() && sent < bounds_.parts_per_round; ++i) {
      auto next = readers_.upper_bound(turn_);
      if (next == readers_.end()) next = readers_.begin();
      turn_ = next->first;
      if (!ready(next->first) || !send_part(next->first, next->second, send)) continue;
      any = true;
      ++sent;
    }
  }
  return sent;
}

bool SnapshotServer::send_part(EndpointId to, Reader& reader, SendSnapshotMessage send) {
  if (reader.file == nullptr || reader.sent == reader.file->name.bytes) return false;
  const std::size_t room = bounds_.window_bytes - (reader.sent - reader.confirmed);
  if (room < bounds_.part_bytes) return false;
  SnapshotMessage part = answer(reader, SnapshotMessageType::kPart);
  part.name = reader.file->name;
  part.offset = reader.sent;
  part.data = reader.file->bytes.substr(reader.sent, bounds_.part_bytes);
  reader.sent += part.data.size();
  send(to, encode(part));
  return true;
}

// Forgets readers that have long confirmed nothing: they ask another peer by now, and their file takes memory here.
void SnapshotServer::tick(SendSnapshotMessage send) {
  for (auto& [to, reader] : readers_) reader.silent_ticks = reader.file == nullptr ? 0 : reader.silent_ticks + 1;
  std::erase_if(readers_, [this](const auto& each) { return each.second.silent_ticks >= 2 * bounds_.silent_ticks; });
  if (!wanted() || ++wait_ticks_ < bounds_.wait_ticks) return;
  wait_ticks_ = 0;
  for (const auto& [to, reader] : readers_) {
    if (reader.file == nullptr) send(to, encode(answer(reader, SnapshotMessageType::kWait)));
  }
}

}  // namespace ingot::replication_replica_snapshots
