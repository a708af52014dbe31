#include "services/rpc/server/request_head.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "services/rpc/server/limits.h"
#include "services/rpc/wire/binary_metadata.h"
#include "services/rpc/wire/free_memory.h"
#include "services/rpc/wire/timeout.h"

namespace ingot::rpc::inline server {
namespace {

constexpr std::size_t kFieldOverheadBytes = 32;
constexpr std::string_view kGrpcType = "application/grpc";
constexpr std::array<std::string_view, 4> kPseudoHeaders = {":method", ":scheme", ":path", ":authority"};
// Of one connection, which HTTP/2 does not ask for them. Some proxies leave them in a request.
constexpr std::array<std::string_view, 5> kOfConnection = {"connection", "keep-alive", "proxy-connection",
                                                           "transfer-encoding", "upgrade"};

template <std::size_t kNumber>
bool is_one_of(const std::array<std::string_view, kNumber>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::uint8_t* octets(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

bool is_grpc(std::string_view content_type) {
  if (!content_type.starts_with(kGrpcType)) return false;
  const std::string_view rest = content_type.substr(kGrpcType.size());
  return rest.empty() || rest.front() == '+' || rest.front() == ';';
}

// Of HTTP/2 and gRPC themselves.
bool is_reserved(std::string_view name) {
  return name.starts_with(':') || name == "te" || is_one_of(kOfConnection, name) ||
         (name.starts_with("grpc-") && !name.ends_with("-bin"));
}

}  // namespace

void RequestHead::find_fault(grpc::Status status, const char* http_status) {
  if (!fault_) fault_ = Fault{std::move(status), http_status};
}

bool RequestHead::allows(std::string_view name, std::string_view value) {
  if (nghttp2_check_header_name(octets(name), name.size()) == 0 ||
      nghttp2_check_header_value(octets(value), value.size()) == 0) {
    return false;
  }
  if (!name.starts_with(':')) {
    fields_begun_ = true;
    return true;
  }
  const auto* const known = std::find(kPseudoHeaders.begin(), kPseudoHeaders.end(), name);
  if (known == kPseudoHeaders.end() || fields_begun_) return false;
  const unsigned bit = 1u << (known - kPseudoHeaders.begin());
  return (std::exchange(pseudo_, pseudo_ | bit) & bit) == 0;
}

// False: that is too much.
bool RequestHead::count(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= kMetadataBytesMax) return true;
  find_fault({grpc::StatusCode::RESOURCE_EXHAUSTED,
              absl::StrCat("received metadata size exceeds limit (more than ", kMetadataBytesMax, " bytes)")});
  return false;
}

void RequestHead::add(std::string_view name, std::string_view value) {
  if (!count(name.size() + value.size() + kFieldOverheadBytes)) return;
  if (!take_known(name, value) && !is_reserved(name)) take_metadata(name, value);
}

bool RequestHead::take_known(std::string_view name, std::string_view value) {
  if (name == ":path") {
    path_ = value;
  } else if (name == ":method") {
    post_ = value == "POST";
  } else if (name == "content-type") {
    grpc_ = grpc_ || is_grpc(value);
  } else if (name == "grpc-encoding") {
    encoding_ = encoding_of(value);
    if (encoding_ == Encoding::kUnknown) {
      find_fault({grpc::StatusCode::UNIMPLEMENTED, absl::StrCat("grpc: the request's encoding is unknown; known are ",
                                                                std::string(kAcceptedEncodings))});
    }
  } else if (name == "grpc-timeout") {
    timeout_ns_ = parse_timeout(value);
    if (!timeout_ns_) find_fault({grpc::StatusCode::INTERNAL, "malformed grpc-timeout; right is such as 5S or 300m"});
  } else {
    return false;
  }
  return true;
}

void RequestHead::take_metadata(std::string_view name, std::string_view value) {
  if (!is_binary_metadata(name)) return keep(name, value);
  // Proxies may join the values of one name by commas. The name is kept with each, so it counts with each.
  bool first = true;
  for (const absl::string_view each : absl::StrSplit(absl::string_view(value.data(), value.size()), ',')) {
    if (!std::exchange(first, false) && !count(name.size() + kFieldOverheadBytes)) return;
    const std::optional<std::string> bytes = decode_binary_metadata({each.data(), each.size()});
    if (!bytes) {
      return find_fault({grpc::StatusCode::INTERNAL,
                         absl::StrCat("the metadata ", std::string(name), " is not base64; nothing was done")});
    }
    keep(name, *bytes);
  }
}

void RequestHead::keep(std::string_view name, std::string_view value) {
  fields_.push_back({static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(value.size())});
  text_.append(name).append(value);
}

std::optional<RequestHead::Fault> RequestHead::fault() const {
  if (fault_) return fault_;  // first, since behind too much metadata no field has been looked at
  if (!post_) return Fault{{grpc::StatusCode::INTERNAL, "gRPC calls are POST requests"}, "405"};
  if (!grpc_) return Fault{{grpc::StatusCode::INTERNAL, "the content-type of gRPC calls is application/grpc"}, "415"};
  return std::nullopt;
}

std::optional<std::string_view> RequestHead::metadata(std::string_view name) const {
  const char* at = text_.data();
  for (const Field& field : fields_) {
    if (std::string_view(at, field.name_bytes) == name)
      return std::string_view(at + field.name_bytes, field.value_bytes);
    at += field.name_bytes + field.value_bytes;
  }
  return std::nullopt;
}

Metadata RequestHead::all_metadata() const {
  Metadata all;
  const char* at = text_.data();
  for (const Field& field : fields_) {
    all.emplace_back(std::string(at, field.name_bytes), std::string(at + field.name_bytes, field.value_bytes));
    at += field.name_bytes + field.value_bytes;
  }
  return all;
}

void RequestHead::clear() {
  RequestHead fresh;
  path_.clear();
  text_.clear();
  fields_.clear();
  for (std::string* each : {&path_, &text_}) {
    if (each->capacity() > kKeptCapacityBytes) free_memory(*each);
  }
  fresh.path_ = std::move(path_);
  fresh.text_ = std::move(text_);
  if (fields_.capacity() <= kKeptCapacityBytes / sizeof(Field)) fresh.fields_ = std::move(fields_);
  *this = std::move(fresh);
}

}  // namespace ingot::rpc::server
