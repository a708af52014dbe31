#include "services/serving/refused_calls.h"

#include <grpcpp/grpcpp.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "services/etcd/errors.h"

namespace ingot::inline services_serving {

namespace {

using grpc::experimental::InterceptionHookPoints;

class RefusalInterceptor final : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* batch) override {
    if (batch->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) explain(*batch);
    batch->Proceed();
  }

 private:
  static void explain(grpc::experimental::InterceptorBatchMethods& batch) {
    const grpc::Status status = batch.GetSendStatus();
    if (status.error_code() != grpc::StatusCode::UNIMPLEMENTED || !status.error_message().empty()) return;
    batch.ModifySendStatus(etcd::malformed_request());
  }
};

class RefusalInterceptors final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateServerInterceptor(grpc::experimental::ServerRpcInfo*) override {
    return new RefusalInterceptor;
  }
};

class UnknownMethods final : public grpc::CallbackGenericService {
 public:
  // gRPC refuses a path of another form than "/SERVICE/METHOD" by itself.
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override {
    class Refusal final : public grpc::ServerGenericBidiReactor {
     public:
      explicit Refusal(const std::string& why) { Finish({grpc::StatusCode::UNIMPLEMENTED, why}); }
      void OnDone() override { delete this; }
    };
    const std::string& path = context->method();
    const std::size_t slash = path.rfind('/');
    const std::string method = path.substr(slash + 1);
    const std::string service(absl::StripPrefix(path.substr(0, slash), "/"));
    return new Refusal(absl::StrCat("unknown method ", method, " for service ", service));
  }
};

}  // namespace

std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> make_refusal_interceptors() {
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> interceptors;
  interceptors.push_back(std::make_unique<RefusalInterceptors>());
  return interceptors;
}

std::unique_ptr<grpc::CallbackGenericService> make_unknown_methods() { return std::make_unique<UnknownMethods>(); }

}  // namespace ingot::services_serving
