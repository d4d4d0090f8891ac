# Sourced by the setup scripts: where slow things are kept, and how progress is told.
#
# Everything that is slow to fetch or build lives under $CACHE, outside the
# tree, in a folder named NAME-VERSION. A folder appears under its final name
# only when it is whole, so an interrupted build is simply begun again.

CACHE=${DYNATRAIN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dynatrain}
KUBERNETES_VERSION=v1.34.4
ETCD_VERSION=v3.6.5   # what kubeadm of this Kubernetes brings; it refuses those before 3.5.24, and Debian has 3.4.23
HELM_VERSION=v3.22.0
BUILDIFIER_VERSION=v0.0.0-20260904073137-eaa4d125b423   # its tags name no module version
TORCH_VERSION=2.15.0
PYTHON_ENV_REVISION=2   # raise when the list in setup/python changes
MEGATRON_VERSION=0.16.1   # newer ones want Python 3.12
KUBERNETES_BIN=$CACHE/kubernetes-$KUBERNETES_VERSION
ETCD_BIN=$CACHE/etcd-$ETCD_VERSION
HELM_BIN=$CACHE/helm-$HELM_VERSION
BUILDIFIER_BIN=$CACHE/buildifier-$BUILDIFIER_VERSION
PYTHON_ENV=$CACHE/python-torch$TORCH_VERSION-r$PYTHON_ENV_REVISION
MEGATRON_ENV=$CACHE/megatron-$MEGATRON_VERSION-torch$TORCH_VERSION-r$PYTHON_ENV_REVISION
DEEPSPEED_VERSION=0.19.8   # its engine runs on CPUs for tests/oracle_deepspeed
DEEPSPEED_PACKAGES=$CACHE/deepspeed-$DEEPSPEED_VERSION-torch$TORCH_VERSION-r1
export GOFLAGS=-modcacherw

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# timed LABEL COMMAND...: run it with its output in a log; tell how long it took.
timed() {
  local label=$1 log began=$SECONDS; shift
  log=$(mktemp "${TMPDIR:-/tmp}/dynatrain-setup.XXXXXX")
  printf '    %-46s' "$label" >&2
  if "$@" > "$log" 2>&1 < /dev/null; then
    printf '%4d s\n' $((SECONDS - began)) >&2; rm -f "$log"
  else
    printf 'failed\n' >&2; tail -n 25 "$log" >&2; die "$label failed; whole log: $log"
  fi
}
