#include "services/rpc/server/call.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"
#include "services/rpc/server/call_table.h"
#include "services/rpc/server/session.h"
#include "services/rpc/server/stream.h"
#include "services/rpc/wire/binary_metadata.h"

namespace ingot::rpc::inline server {
namespace {

constexpr std::string_view kReserved[] = {"content-type", "te", "connection", "transfer-encoding", "content-length"};

void add_metadata(std::string& text, std::string_view name, std::string_view value) {
  const std::string encoded = is_binary_metadata(name) ? encode_binary_metadata(value) : std::string(value);
  const auto bytes = [](std::string_view of) { return reinterpret_cast<const std::uint8_t*>(of.data()); };
  const bool reserved = std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
  if (reserved || name.starts_with(':') || nghttp2_check_header_name(bytes(name), name.size()) == 0 ||
      nghttp2_check_header_value(bytes(encoded), encoded.size()) == 0) {
    return;
  }
  text.append(name).append(1, '\0').append(encoded).append(1, '\0');
}

}  // namespace

Stream* Call::stream() const { return table_ == nullptr ? nullptr : table_->find(*this); }

Stream& Call::open_stream() const {
  Stream* found = stream();
  INGOT_CHECK(found != nullptr, "only of an open call");
  return *found;
}

bool Call::open() const { return stream() != nullptr; }

const Caller& Call::caller() const { return open_stream().session->host().caller(); }
std::string_view Call::path() const { return open_stream().head.path(); }
std::optional<std::string_view> Call::metadata(std::string_view name) const {
  return open_stream().head.metadata(name);
}
Metadata Call::all_metadata() const { return open_stream().head.all_metadata(); }
std::uint64_t Call::deadline_ns() const { return open_stream().deadline_ns; }

void Call::add_initial_metadata(std::string_view name, std::string_view value) const {
  Stream* to = stream();
  if (to != nullptr && !to->response_begun) add_metadata(to->initial_metadata, name, value);
}

void Call::add_trailing_metadata(std::string_view name, std::string_view value) const {
  if (Stream* to = stream()) add_metadata(to->trailing_metadata, name, value);
}

void Call::send(const google::protobuf::MessageLite& message) const {
  if (Stream* to = stream()) to->session->send(*to, message);
}

void Call::send_bytes(std::string_view message) const {
  if (Stream* to = stream()) to->session->send(*to, message);
}

void Call::send_pieces(std::vector<std::string> pieces) const {
  if (Stream* to = stream()) to->session->send(*to, std::move(pieces));
}

void Call::send_initial_metadata() const {
  if (Stream* to = stream()) to->session->begin_response(*to);
}

void Call::finish(const grpc::Status& status) const {
  if (Stream* to = stream()) return to->session->finish(*to, status);
  if (table_ != nullptr) table_->work_ended(*this);
}

void Call::resume() const {
  if (Stream* to = stream()) to->session->resume(*to);
}

std::size_t Call::pending_bytes() const {
  const Stream* of = stream();
  return of == nullptr ? 0 : of->output.size();
}

void Call::tell_below(std::size_t bytes) const {
  if (Stream* of = stream()) of->session->tell_below(*of, bytes);
}

const void* Call::connection() const { return &open_stream().session->host(); }

}  // namespace ingot::rpc::server
