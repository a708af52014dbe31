// JSON and messages: against Protocol Buffers' own conversion, in all parts, and what is refused.
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/prng.h"
#include "proto/etcd/rpc.pb.h"
#include "services/rpc/json/limits.h"
#include "services/rpc/json/reader.h"
#include "services/rpc/json/writer.h"
#include "tests/seeds.h"

namespace ingot::rpc {
namespace {

namespace pb = google::protobuf;
using Result = JsonReader::Result;

constexpr std::size_t kBytesMax = 2 * 1024 * 1024;

// The messages of the text, in parts of so many bytes.
template <typename Message>
std::vector<Message> read_all(std::string_view text, std::size_t part_bytes) {
  JsonReader reader(*Message::descriptor(), kBytesMax);
  std::vector<Message> all;
  for (std::size_t at = 0; at < text.size(); at += part_bytes) {
    std::string_view part = text.substr(at, part_bytes);
    for (Result result = reader.read(part); result != Result::kMore; result = reader.read(part)) {
      INFO(reader.fault());
      REQUIRE(result == Result::kMessage);
      REQUIRE(all.emplace_back().ParseFromString(reader.message()));
    }
  }
  CHECK(reader.between_messages());
  return all;
}

template <typename Message>
std::string fault_of(std::string_view text) {
  JsonReader reader(*Message::descriptor(), kBytesMax);
  const Result result = reader.read(text);
  return result == Result::kFault ? reader.fault() : absl::StrCat("no fault but ", static_cast<int>(result));
}

std::string as_json(const pb::Message& message) {
  std::string json;
  REQUIRE(append_json(*message.GetDescriptor(), message.SerializeAsString(), json));
  return json;
}

std::string some_bytes(Prng& prng) {
  std::string bytes(prng.below(40), ' ');
  for (char& each : bytes) each = static_cast<char>(prng.below(256));
  return bytes;
}

// Each field with some probability, to some depth.
void fill(pb::Message& message, Prng& prng, int depth) {
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto* field = message.GetDescriptor()->field(i);
    for (int left = field->is_repeated() ? 3 : 1; left > 0 && prng.below(2) == 0; --left) {
      const auto set = [&](auto one, auto add, auto value) {
        field->is_repeated() ? (reflection->*add)(&message, field, value) : (reflection->*one)(&message, field, value);
      };
      using R = pb::Reflection;
      switch (field->cpp_type()) {
        case pb::FieldDescriptor::CPPTYPE_INT64:
          set(&R::SetInt64, &R::AddInt64, static_cast<std::int64_t>(prng()));
          break;
        case pb::FieldDescriptor::CPPTYPE_UINT64:
          set(&R::SetUInt64, &R::AddUInt64, prng());
          break;
        case pb::FieldDescriptor::CPPTYPE_INT32:
          set(&R::SetInt32, &R::AddInt32, static_cast<std::int32_t>(prng()));
          break;
        case pb::FieldDescriptor::CPPTYPE_UINT32:
          set(&R::SetUInt32, &R::AddUInt32, static_cast<std::uint32_t>(prng()));
          break;
        case pb::FieldDescriptor::CPPTYPE_BOOL:
          set(&R::SetBool, &R::AddBool, prng.below(2) == 0);
          break;
        case pb::FieldDescriptor::CPPTYPE_ENUM:
          set(&R::SetEnumValue, &R::AddEnumValue, static_cast<int>(prng.below(6)));
          break;
        case pb::FieldDescriptor::CPPTYPE_STRING: {
          const bool bytes = field->type() == pb::FieldDescriptor::TYPE_BYTES;
          const std::string value = bytes ? some_bytes(prng) : absl::StrCat("\"\\\n\x01 \xc3\xbc<>", prng());
          field->is_repeated() ? reflection->AddString(&message, field, value)
                               : reflection->SetString(&message, field, value);
          break;
        }
        case pb::FieldDescriptor::CPPTYPE_MESSAGE:
          if (depth == 0) break;
          fill(field->is_repeated() ? *reflection->AddMessage(&message, field)
                                    : *reflection->MutableMessage(&message, field),
               prng, depth - 1);
          break;
        default:
          FAIL("etcd's messages have no such field");
      }
    }
  }
}

template <typename Message>
void compare_random(Prng& prng) {
  Message message;
  fill(message, prng, 4);
  const std::string json = as_json(message);
  INFO(json);
  Message theirs;
  REQUIRE(pb::util::JsonStringToMessage(json, &theirs).ok());
  CHECK(pb::util::MessageDifferencer::Equals(theirs, message));
  std::string written;
  pb::util::JsonPrintOptions options;
  options.preserve_proto_field_names = prng.below(2) == 0;
  REQUIRE(pb::util::MessageToJsonString(message, &written, options).ok());
  for (const std::string& text : {json, written}) {
    const auto ours = read_all<Message>(text, 1 + prng.below(text.size()));
    REQUIRE(ours.size() == 1);
    CHECK(pb::util::MessageDifferencer::Equals(ours[0], message));
  }
}

TEST_CASE("random messages become the JSON that Protocol Buffers read, and come back from what they write") {
  for (const std::uint64_t seed : testing::seeds(300)) {
    Prng prng(seed);
    compare_random<etcdserverpb::TxnRequest>(prng);
    compare_random<etcdserverpb::RangeRequest>(prng);
    compare_random<etcdserverpb::WatchResponse>(prng);
    compare_random<etcdserverpb::TxnResponse>(prng);
    compare_random<etcdserverpb::MemberListResponse>(prng);
    compare_random<etcdserverpb::StatusResponse>(prng);
    compare_random<etcdserverpb::HashKVResponse>(prng);
  }
}

TEST_CASE("text may come in any parts, and objects one after the other") {
  const std::string text =
      "\n {\"create_request\" : {\"key\":\"Zm\\u0039v\", \"filters\":[\"NOPUT\",1], \"startRevision\":\"7\"}}"
      "{\"cancel_request\":{\"watch_id\":\"-3\", \"unknown\":[{\"a\":null},[[]],\"x\"]}}\n\t{} ";
  for (std::size_t part = 1; part <= text.size(); ++part) {
    const auto all = read_all<etcdserverpb::WatchRequest>(text, part);
    REQUIRE(all.size() == 3);
    CHECK(all[0].create_request().key() == "foo");
    CHECK(all[0].create_request().filters_size() == 2);
    CHECK(all[0].create_request().start_revision() == 7);
    CHECK(all[1].cancel_request().watch_id() == -3);
    CHECK(all[2].request_union_case() == 0);
  }
}

TEST_CASE("base64 is read in both alphabets, with or without padding") {
  for (const std::string text : {"++8=", "--8=", "++8", "--8", "+\\n+8=\\r\\n"}) {
    INFO(text);
    const auto all = read_all<etcdserverpb::RangeRequest>("{\"key\":\"" + text + "\"}", 100);
    REQUIRE(all.size() == 1);
    CHECK(all[0].key() == "\xfb\xef");
  }
  for (const std::string text : {"Z", "Zm9vZ", "Zg=", "Zg===", "=", "Z===", "Zg==Zg==", "Zm9v!", "Zm 9v"}) {
    INFO(text);
    CHECK(fault_of<etcdserverpb::RangeRequest>("{\"key\":\"" + text + "\"}").find("is not base64") != std::string::npos);
  }
}

TEST_CASE("what is no request is refused, with a sentence") {
  struct Row {
    std::string text;
    std::string fault;
  };
  const std::vector<Row> ranges = {
      {"[]", "a message is an object, not a list"},
      {"null", "a message is an object, not null"},
      {"7 ", "a message is an object, not a number"},
      {"\"x\"", "a message is an object, not a string"},
      {"true", "a message is an object, not true or false"},
      {"{'key':\"\"}", "not JSON: syntax error"},
      {"{\"key\":\"Zm9v\",}", "not JSON: syntax error"},
      {"{\"key\":\"\xff\"}", "not JSON: syntax error"},
      {"{\"key\":7}", "etcdserverpb.RangeRequest.key takes base64 in quotes, not a number"},
      {"{\"key\":{}}", "etcdserverpb.RangeRequest.key takes base64 in quotes, not an object"},
      {"{\"key\":[\"\"]}", "etcdserverpb.RangeRequest.key takes base64 in quotes, not a list"},
      {"{\"limit\":1.0}", "etcdserverpb.RangeRequest.limit takes a whole number, not a fraction"},
      {"{\"limit\":\"1x\"}", "etcdserverpb.RangeRequest.limit takes a whole number, not \"1x\""},
      {"{\"limit\":\"\"}", "etcdserverpb.RangeRequest.limit takes a whole number, not \"\""},
      {"{\"limit\":9223372036854775808}",
       "etcdserverpb.RangeRequest.limit takes a whole number, not \"9223372036854775808\""},
      {"{\"limit\":\"" + std::string(100, '1') + "\"}",
       "etcdserverpb.RangeRequest.limit takes a whole number, not such a long text"},
      {"{\"keys_only\":\"true\"}", "etcdserverpb.RangeRequest.keys_only takes true or false, not a string"},
      {"{\"key\":\"\",\"key\":\"\"}", "etcdserverpb.RangeRequest.key is there twice"},
      {"{\"range_end\":\"\",\"rangeEnd\":\"\"}", "etcdserverpb.RangeRequest.range_end is there twice"},
      // Protocol Buffers take this for no name at all.
      {"{\"sort_order\":\"UP\"}",
       "etcdserverpb.RangeRequest.sort_order takes a name in quotes, or a number, not \"UP\""},
  };
  for (const Row& row : ranges) {
    INFO(row.text);
    CHECK(fault_of<etcdserverpb::RangeRequest>(row.text) == row.fault);
  }
  const std::vector<Row> txns = {
      // Regression: a null in a list removed the comparison, and the transaction was carried out without it.
      {"{\"compare\":[null]}", "etcdserverpb.TxnRequest.compare takes an object, not null"},
      {"{\"success\":[[]]}", "etcdserverpb.TxnRequest.success takes an object, not a list"},
      {"{\"compare\":{}}", "etcdserverpb.TxnRequest.compare takes a list: each is an object, not an object"},
      {"{\"compare\":[],\"compare\":[]}", "etcdserverpb.TxnRequest.compare is there twice"},
      {"{\"compare\":[{\"version\":0,\"value\":\"\"}]}",
       "only one field of etcdserverpb.Compare.target_union may be there; value is the second"},
  };
  for (const Row& row : txns) {
    INFO(row.text);
    CHECK(fault_of<etcdserverpb::TxnRequest>(row.text) == row.fault);
  }
}

TEST_CASE("a null is a field that is not there") {
  const auto all = read_all<etcdserverpb::TxnRequest>("{\"compare\":null,\"success\":[{\"request_range\":null}]}", 1000);
  CHECK(all[0].compare_size() == 0);
  CHECK(all[0].success(0).request_case() == 0);
}

TEST_CASE("depth and size have a bound, and nothing grows with text that says nothing") {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  CHECK(read_all<etcdserverpb::RangeRequest>(nested(kJsonDepthMax), 1000).size() == 1);
  CHECK(fault_of<etcdserverpb::RangeRequest>(nested(kJsonDepthMax + 1)) == "not JSON: too deep");

  JsonReader reader(*etcdserverpb::PutRequest::descriptor(), 1000);
  const std::string large = "{\"value\":\"" + std::string(1340, 'A') + "\"}";
  std::string_view text = large;
  CHECK(reader.read(text) == Result::kTooLarge);

  JsonReader patient(*etcdserverpb::PutRequest::descriptor(), 1000);
  std::string_view begin = "{\"key\":\"Zm9v\",\"unknown\":[\"";
  CHECK(patient.read(begin) == Result::kMore);
  for (int i = 0; i < 100; ++i) {
    const std::string more(10'000, 'x');
    std::string_view part = more;
    CHECK(patient.read(part) == Result::kMore);
  }
  CHECK(patient.kept_bytes() < 20);
  patient.reset();
  CHECK(patient.kept_bytes() == 0);
}

TEST_CASE("defaults are left out, but not those of a oneof, and no message that is none is written") {
  etcdserverpb::RequestOp put;
  put.mutable_request_put();
  CHECK(as_json(put) == "{\"request_put\":{}}");
  etcdserverpb::Compare compare;
  compare.set_version(0);
  compare.set_target(etcdserverpb::Compare::LEASE);
  CHECK(as_json(compare) == "{\"target\":\"LEASE\",\"version\":\"0\"}");
  CHECK(as_json(etcdserverpb::RangeResponse()) == "{}");
  for (const std::string wire : {"\x08", "\x0a\x05", "\x0a\x02\x08\x80", "\x09x"}) {
    std::string json;
    CHECK_FALSE(append_json(*etcdserverpb::RangeResponse::descriptor(), wire, json));
  }
  std::string json;
  CHECK(append_json(*etcdserverpb::RangeResponse::descriptor(), std::string("\x20\x00\x7a\x01x", 5), json));
  CHECK(json == "{}");
  json.clear();
  append_json_string(json, "\xff\"");
  CHECK(json == "\"\xef\xbf\xbd\\\"\"");
}

}  // namespace
}  // namespace ingot::rpc
