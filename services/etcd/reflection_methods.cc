#include "services/etcd/reflection_methods.h"

#include <memory>
#include <string_view>
#include <utility>

#include "proto/grpc/health.pb.h"
#include "proto/grpc/reflection.pb.h"
#include "services/etcd/definitions.h"
#include "services/etcd/errors.h"

namespace ingot::etcd {

namespace rp = ::ingot::reflection;

namespace {

constexpr const char* kPath = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

// Of all loops, which serve the same; made when it is first asked for.
const Definitions& definitions_of(const std::vector<std::string>& services) {
  static const Definitions all(services);
  return all;
}

void set_error(rp::ServerReflectionResponse& response, grpc::StatusCode code, const char* text) {
  response.mutable_error_response()->set_error_code(code);
  response.mutable_error_response()->set_error_message(text);
}

void set_files(rp::ServerReflectionResponse& response, const std::vector<std::string>* files, const char* if_none) {
  if (files == nullptr) return set_error(response, grpc::StatusCode::NOT_FOUND, if_none);
  for (const std::string& file : *files) response.mutable_file_descriptor_response()->add_file_descriptor_proto(file);
}

// Nothing that is served has extensions.
rp::ServerReflectionResponse answer(const rp::ServerReflectionRequest& request,
                                    const std::vector<std::string>& services) {
  using Asked = rp::ServerReflectionRequest;
  rp::ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  const Definitions& known = definitions_of(services);
  switch (request.message_request_case()) {
    case Asked::kListServices:
      for (const std::string& name : services) response.mutable_list_services_response()->add_service()->set_name(name);
      break;
    case Asked::kFileByFilename:
      set_files(response, known.file(request.file_by_filename()), "File not found.");
      break;
    case Asked::kFileContainingSymbol:
      set_files(response, known.file_of(request.file_containing_symbol()), "Symbol not found.");
      break;
    case Asked::kFileContainingExtension:
      set_error(response, grpc::StatusCode::NOT_FOUND, "Extension not found.");
      break;
    case Asked::kAllExtensionNumbersOfType:
      if (known.file_of(request.all_extension_numbers_of_type()) == nullptr) {
        set_error(response, grpc::StatusCode::NOT_FOUND, "Type not found.");
      } else {
        response.mutable_all_extension_numbers_response()->set_base_type_name(
            request.all_extension_numbers_of_type());
      }
      break;
    case Asked::MESSAGE_REQUEST_NOT_SET:
      set_error(response, grpc::StatusCode::UNIMPLEMENTED, "The request asks for nothing.");
      break;
  }
  return response;
}

}  // namespace

// Answers each request before it reads the next one, and reads none while the client does not take the answers.
class ReflectionMethods::Stream final : public rpc::StreamHandler {
 public:
  Stream(ReflectionMethods& all, const rpc::Call& call) : all_(all), call_(call) { all_.streams_.insert(this); }
  ~Stream() override { all_.streams_.erase(this); }

  void message(std::string_view bytes) override {
    rp::ServerReflectionRequest request;
    if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return call_.finish(malformed_request());
    }
    call_.send(answer(request, all_.services_));
  }
  void half_closed() override { call_.finish(grpc::Status::OK); }
  void writable() override { call_.resume(); }
  bool wants_more() const override {
    if (call_.pending_bytes() == 0) return true;
    call_.tell_below(1);
    return false;
  }

  void leave() { call_.finish(server_stopped()); }

 private:
  ReflectionMethods& all_;
  const rpc::Call call_;
};

void ReflectionMethods::add_to(rpc::Methods& methods) {
  grpc::health::v1::HealthCheckRequest::descriptor();  // links the definition
  rpc::Method method;
  method.stream = [this](const rpc::Call& call) { return std::make_unique<Stream>(*this, call); };
  methods.add(kPath, std::move(method));
  for (std::string& name : methods.services()) services_.push_back(std::move(name));
}

void ReflectionMethods::drain() {
  for (Stream* stream : streams_) stream->leave();
}

}  // namespace ingot::etcd
