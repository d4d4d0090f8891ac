"""C++ targets of this project: warnings are errors, tests bring GoogleTest and the tsan suppressions."""

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-sign-compare",
    # Designated initializers leave out what has a good default.
    "-Wno-missing-field-initializers",
]

def dt_cc_library(copts = [], **kwargs):
    native.cc_library(copts = _COPTS + copts, **kwargs)

def dt_cc_binary(copts = [], **kwargs):
    native.cc_binary(copts = _COPTS + copts, **kwargs)

def dt_cc_test(copts = [], deps = [], data = [], size = "small", main = True, **kwargs):
    native.cc_test(
        copts = _COPTS + copts,
        size = size,
        data = data + ["//build_defs:tsan.supp"],
        deps = deps + (["//third_party:gmock_main"] if main else []) + select({
            "//build_defs:tsan": ["//build_defs:tsan_absl"],
            "//conditions:default": [],
        }),
        **kwargs
    )
