"""Protobuf and gRPC by the system's protoc: rules_proto would want protobuf as source."""

def dt_cc_grpc_library(name, src, deps = [], **kwargs):
    """A cc_library of one .proto with its gRPC services. Only api/ may call this."""
    stem = src[:-len(".proto")]
    outs = [stem + suffix for suffix in [".pb.h", ".pb.cc", ".grpc.pb.h", ".grpc.pb.cc"]]
    native.genrule(
        name = name + "_generated",
        srcs = [src],
        outs = outs,
        cmd = "/usr/bin/protoc -I. --cpp_out=$(GENDIR) --grpc_out=$(GENDIR) " +
              "--plugin=protoc-gen-grpc=/usr/bin/grpc_cpp_plugin $(SRCS)",
    )
    native.cc_library(
        name = name,
        srcs = [o for o in outs if o.endswith(".cc")],
        hdrs = [o for o in outs if o.endswith(".h")],
        deps = deps + ["//third_party:grpcpp", "//third_party:protobuf"],
        **kwargs
    )
