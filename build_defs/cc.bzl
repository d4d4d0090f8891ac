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

# For what runs under TSan, which has to be told of Abseil's locks.
_TSAN = select({
    "//build_defs:tsan": ["//build_defs:tsan_absl"],
    "//conditions:default": [],
})

def dt_cc_binary(copts = [], deps = [], linkshared = False, **kwargs):
    native.cc_binary(
        copts = _COPTS + copts,
        linkshared = linkshared,
        # A library brings an Abseil of its own, in which nothing can be hidden.
        deps = deps + ([] if linkshared else _TSAN),
        **kwargs
    )

def dt_cc_test(copts = [], deps = [], data = [], size = "small", main = True, **kwargs):
    native.cc_test(
        copts = _COPTS + copts,
        size = size,
        data = data + ["//build_defs:tsan.supp"],
        deps = deps + (["//third_party:gmock_main"] if main else []) + _TSAN,
        **kwargs
    )
