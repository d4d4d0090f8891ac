"""Fuzz targets: NAME_fuzz for libFuzzer (clang's, so built only by tests/fuzz/run), NAME_test replays its inputs with any compiler."""

load("//build_defs:cc.bzl", "dt_cc_binary", "dt_cc_test")

def dt_fuzz_target(name, deps, seeds = []):
    """Fuzzes what NAME_fuzz.cc defines as LLVMFuzzerTestOneInput.

    Args:
      name: of the target; corpus/NAME holds inputs that once told something, NAME.dict words of the language
      deps: of NAME_fuzz.cc
      seeds: labels of files that inputs are made from, beside the corpus
    """
    inputs = seeds + native.glob(["corpus/%s/*" % name])
    dt_cc_binary(
        name = name + "_fuzz",
        testonly = True,
        srcs = [name + "_fuzz.cc"],
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )
    native.filegroup(
        name = name + "_inputs",
        testonly = True,
        srcs = inputs,
    )
    dt_cc_test(
        name = name + "_test",
        srcs = [
            name + "_fuzz.cc",
            "replay.cc",
        ],
        args = ["$(rootpaths :%s_inputs)" % name],
        data = [":%s_inputs" % name],
        main = False,
        deps = deps,
    )
