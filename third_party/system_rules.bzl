"""Bazel's implicit repositories, all of them local: nothing may be downloaded."""

_RULES = {
    "platforms": "/usr/share/bazel/tools/platforms",
    "remote_coverage_tools": "third_party/remote_coverage_tools",
    "rules_cc": "third_party/rules_cc",
    "rules_java": "/usr/share/bazel/rules/java",
}

def system_rules():
    """Declares each under the name Bazel expects, so that its downloading default gives way."""
    for name, path in _RULES.items():
        native.local_repository(name = name, path = path)
