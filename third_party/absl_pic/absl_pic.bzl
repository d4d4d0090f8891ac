"""The position-independent Abseil archives that tools/setup/abseil keeps in the cache."""

_BUILD = """
cc_library(
    name = "absl_pic",
    linkopts = ["-L{lib}"],
    visibility = ["@dynatrain//agent/runtime:__pkg__"],
)
"""

def _impl(ctx):
    env = ctx.os.environ
    cache = env.get("DYNATRAIN_CACHE") or (env.get("XDG_CACHE_HOME") or env.get("HOME", "/root") + "/.cache") + "/dynatrain"
    ctx.file("BUILD", _BUILD.format(lib = cache + "/abseil-pic/lib"))

absl_pic = repository_rule(
    implementation = _impl,
    environ = ["DYNATRAIN_CACHE", "XDG_CACHE_HOME", "HOME"],
    local = True,
)
