"""What Bazel's own tools load from rules_cc; Debian's package of it does not load under Bazel 4.2.3."""

cc_library = native.cc_library
cc_binary = native.cc_binary
cc_import = native.cc_import
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
