// Words for calls that gRPC refuses before a service sees them. gRPC's own refusals of them are UNIMPLEMENTED without a
// text.
#pragma once

#include <memory>
#include <vector>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/server_interceptor.h>

namespace ingot::inline services_serving {

// A request that is no message of its method's type ends with INTERNAL and a sentence that begins as etcd's. Every
// refusal of the services themselves has a text, so a refusal without one is gRPC's. Thread-safe.
std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> make_refusal_interceptors();

// Ends calls of methods that no service has with UNIMPLEMENTED and a sentence that names the method. Thread-safe.
std::unique_ptr<grpc::CallbackGenericService> make_unknown_methods();

}  // namespace ingot::services_serving
