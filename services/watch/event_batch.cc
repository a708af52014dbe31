#include "services/watch/event_batch.h"

#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "services/etcd/translate.h"

namespace ingot::watch {
namespace {

using google::protobuf::io::CodedOutputStream;
using google::protobuf::internal::WireFormatLite;

constexpr std::uint32_t kEventTag =
    WireFormatLite::MakeTag(pb::WatchResponse::kEventsFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

std::uint32_t size_of(const EventBatch::Entry& entry, const Watch& watch) {
  return entry.bytes + (watch.prev_kv ? entry.previous_bytes : 0);
}

}  // namespace

// An encoded message may be cut between its fields, so the previous value is a part that may be left out.
EventBatch::EventBatch(std::vector<kv::Event>&& events) {
  entries_.reserve(events.size());
  for (kv::Event& event : events) {
    Entry entry{std::move(event.kv.key), event.kv.mod_revision, event.deleted, bytes_.size(), 0, 0};
    event.kv.key = entry.key;
    const bool has_previous = event.has_prev;
    mvccpb::Event plain, previous;
    if (has_previous) etcd::translate(std::move(event.prev), previous.mutable_prev_kv());
    plain.set_type(event.deleted ? mvccpb::Event::DELETE : mvccpb::Event::PUT);
    etcd::translate(std::move(event.kv), plain.mutable_kv());
    plain.AppendPartialToString(&bytes_);
    entry.bytes = static_cast<std::uint32_t>(bytes_.size() - entry.begin);
    if (has_previous) previous.AppendPartialToString(&bytes_);
    entry.previous_bytes = static_cast<std::uint32_t>(bytes_.size() - entry.begin - entry.bytes);
    entries_.push_back(std::move(entry));
  }
}

std::size_t EventBatch::size_in(const Entry& entry, const Watch& watch) const {
  const std::uint32_t bytes = size_of(entry, watch);
  return CodedOutputStream::VarintSize32(kEventTag) + CodedOutputStream::VarintSize32(bytes) + bytes;
}

void EventBatch::append(const Entry& entry, const Watch& watch, std::string& to) const {
  const std::uint32_t bytes = size_of(entry, watch);
  std::uint8_t head[10];
  const std::uint8_t* end =
      CodedOutputStream::WriteVarint32ToArray(bytes, CodedOutputStream::WriteTagToArray(kEventTag, head));
  to.append(reinterpret_cast<const char*>(head), static_cast<std::size_t>(end - head));
  to.append(bytes_, entry.begin, bytes);
}

}  // namespace ingot::watch
