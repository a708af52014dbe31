#include "transport/collectives/groups/requests.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "core/wire.h"

namespace ingot::inline transport_collectives_groups {
namespace {

constexpr std::size_t kHeaderBytes = 6;

std::string encode(Requests::Class message_class, std::uint8_t second, std::uint32_t number, std::string_view body) {
  WireWriter out(kHeaderBytes + body.size());
  out.u8(static_cast<std::uint8_t>(message_class)).u8(second).u32(number).raw(body);
  return out.take();
}

}  // namespace

Requests::Requests(Transport& transport, int endpoints, Handler handler)
    : transport_(transport),
      handler_(std::move(handler)),
      waiting_(static_cast<std::size_t>(endpoints)),
      gone_(static_cast<std::size_t>(endpoints)) {}

absl::Status Requests::refusal(EndpointId to, std::size_t bytes, bool wants_answer) const {
  if (to.value() >= waiting_.size()) {
    return absl::InvalidArgumentError(absl::StrCat("there is no endpoint ", to.value()));
  }
  if (bytes > kActiveMessageBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a call of ", bytes, " bytes is too long: ", kActiveMessageBytesMax, " are possible"));
  }
  if (gone_[to.value()]) return absl::UnavailableError(absl::StrCat("endpoint ", to.value(), " is gone"));
  if (wants_answer && outstanding_.size() >= kCallsOutstandingMax) {
    return absl::ResourceExhaustedError(absl::StrCat(kCallsOutstandingMax, " calls wait for answers already"));
  }
  const std::size_t waiting = to == self() ? local_.size() : waiting_[to.value()].size();
  if (waiting < kWaitingMessagesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(waiting, " messages wait for endpoint ", to.value(), " already"));
}

absl::Status Requests::request(EndpointId to, std::uint8_t kind, std::string_view body, Done done) {
  if (absl::Status status = refusal(to, body.size(), done != nullptr); !status.ok()) return status;
  std::uint32_t number = 0;
  if (done != nullptr) {
    do number = ++last_number_;
    while (number == 0 || outstanding_.contains(number));
    outstanding_.emplace(number, Outstanding{to, std::move(done)});
  }
  transmit(to, encode(Class::kRequest, kind, number, body));
  return absl::OkStatus();
}

void Requests::answer(Caller caller, const absl::StatusOr<std::string>& result) {
  if (caller.number == 0) return;
  if (!result.ok()) {
    const auto code = static_cast<std::uint8_t>(result.status().code());
    const std::string_view text(result.status().message().data(), result.status().message().size());
    const std::string_view sent = text.substr(0, kActiveMessageBytesMax);
    return transmit(caller.endpoint, encode(Class::kAnswer, code, caller.number, sent));
  }
  if (result->size() > kActiveMessageBytesMax) {
    return answer(caller, absl::ResourceExhaustedError(absl::StrCat("an answer of ", result->size(),
                                                                    " bytes is too long: ", kActiveMessageBytesMax,
                                                                    " are possible")));
  }
  transmit(caller.endpoint, encode(Class::kAnswer, 0, caller.number, *result));
}

void Requests::transmit(EndpointId to, std::string message) {
  if (to == self()) return local_.push_back(std::move(message));
  auto& waiting = waiting_[to.value()];
  if (gone_[to.value()]) return;
  if (waiting.empty() && transport_.send(to, as_bytes(message))) return;
  waiting.push_back(std::move(message));
  ++waiting_messages_;
}

void Requests::receive(EndpointId from, std::string_view message) {
  WireReader in(message);
  const auto message_class = static_cast<Class>(in.u8());
  const std::uint8_t second = in.u8();
  const std::uint32_t number = in.u32();
  if (in.failed()) {
    ++strays_;
  } else if (message_class == Class::kRequest) {
    handler_(second, {from, number}, in.rest());
  } else if (message_class == Class::kAnswer) {
    receive_answer(from, second, number, in.rest());
  } else {
    ++strays_;
  }
}

void Requests::receive_answer(EndpointId from, std::uint8_t code, std::uint32_t number, std::string_view body) {
  const auto found = outstanding_.find(number);
  if (found == outstanding_.end() || found->second.to != from) {
    ++strays_;
    return;
  }
  const Done done = std::move(found->second.done);  // it may send further requests
  outstanding_.erase(found);
  if (code == 0) return done(body);
  const absl::Status status(static_cast<absl::StatusCode>(code), absl::string_view(body.data(), body.size()));
  done(status);
}

int Requests::take_local() {
  const int count = static_cast<int>(std::min<std::size_t>(local_.size(), kActiveMessagesPerPoll));
  for (int i = 0; i < count; ++i) {
    const std::string message = std::move(local_.front());
    local_.pop_front();
    receive(self(), message);
  }
  return count;
}

int Requests::send_waiting() {
  int sent = 0;
  for (std::size_t peer = 0; waiting_messages_ > 0 && peer < waiting_.size(); ++peer) {
    auto& waiting = waiting_[peer];
    const EndpointId to(static_cast<std::uint16_t>(peer));
    for (; !waiting.empty() && transport_.send(to, as_bytes(waiting.front())); ++sent) {
      waiting.pop_front();
      --waiting_messages_;
    }
  }
  return sent;
}

int Requests::poll() {
  int work = take_local();
  const auto take = [&](EndpointId from, std::span<const std::byte> message) { receive(from, as_view(message)); };
  work += transport_.probe(take, kActiveMessagesPerPoll);
  work += send_waiting();
  fragments_wait_ = transport_.flush();
  if (transport_.parts_moved()) ++work;
  return work;
}

std::vector<EndpointId> Requests::full_peers() const {
  std::vector<EndpointId> peers;
  for (std::size_t peer = 0; peer < waiting_.size(); ++peer) {
    const EndpointId endpoint(static_cast<std::uint16_t>(peer));
    if (!waiting_[peer].empty() || (fragments_wait_ && endpoint != self() && !gone_[peer])) peers.push_back(endpoint);
  }
  return peers;
}

void Requests::endpoint_gone(EndpointId endpoint) {
  INGOT_CHECK(endpoint.value() < gone_.size() && endpoint != self(), "another endpoint of the fabric is gone");
  gone_[endpoint.value()] = true;
  waiting_messages_ -= waiting_[endpoint.value()].size();
  waiting_[endpoint.value()].clear();
  transport_.peer_gone(endpoint);
  std::vector<std::pair<std::uint32_t, Done>> failed;
  for (const auto& [number, each] : outstanding_) {
    if (each.to == endpoint) failed.emplace_back(number, each.done);
  }
  std::sort(failed.begin(), failed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [number, done] : failed) outstanding_.erase(number);
  const absl::Status status = absl::UnavailableError(
      absl::StrCat("endpoint ", endpoint.value(), " is gone; it may have done what it was asked"));
  for (const auto& [number, done] : failed) done(status);
}

}  // namespace ingot::transport_collectives_groups
