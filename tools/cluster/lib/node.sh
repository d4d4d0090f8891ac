# A node is one containerd and one kubelet, with its own pods, address, bridge and failures.

in_containerd() { ctr -a "$STATE/node-$1/containerd.sock" -n k8s.io "${@:2}"; } # N ARGS...

start_containerd() { # N
  local i=$1 folder=$STATE/node-$1
  mkdir -p "$folder"/{cni,kubelet,logs}
  containerd_config "$i" > "$folder/containerd.toml"
  cni_config "$i" > "$folder/cni/10-bridge.conflist"
  start "node-$i.containerd" containerd -c "$folder/containerd.toml"
}

start_kubelet() { # N
  local i=$1 folder=$STATE/node-$1
  wait_for 30 "containerd of node-$i" "node-$i.containerd" in_containerd "$i" version
  in_containerd "$i" images import "$STATE/pause.tar" > /dev/null
  kubelet_config "$i" > "$folder/kubelet.yaml"
  start "node-$i.kubelet" "$BIN/kubelet" --config="$folder/kubelet.yaml" --kubeconfig="$STATE/pki/node-$i.kubeconfig" \
    --hostname-override="node-$i" --root-dir="$folder/kubelet" --cert-dir="$folder/pki" --node-ip="10.88.0.$((10 + i))"
}

node_start() { # N, after node_kill
  if living "node-$1.kubelet" > /dev/null; then say "node-$1 runs"; return; fi
  start_containerd "$1"; start_kubelet "$1"
}

node_kill() { # N: nothing of it gets to say goodbye
  stop KILL "node-$1.kubelet" "node-$1.containerd"
  end_containers "$STATE/node-$1/"
}

containerd_config() { # N
  local folder=$STATE/node-$1 snapshotter=overlayfs
  # An overlay can't lie on another one, as when this machine is itself a container.
  [ "$(stat -f -c %T "$STATE")" != overlayfs ] || snapshotter=native
  cat <<X
version = 2
root = "$folder/containerd"
state = "$folder/run"
[grpc]
  address = "$folder/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$folder/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "$snapshotter"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$folder/cni"
X
}

cni_config() { # N
  cat <<X
{"cniVersion": "0.4.0", "name": "node-$1", "plugins": [
 {"type": "bridge", "bridge": "pods-$1", "isGateway": true,
  "ipam": {"type": "host-local", "dataDir": "$STATE/node-$1/cni-state", "ranges": [[{"subnet": "10.88.$1.0/24"}]],
           "routes": [{"dst": "0.0.0.0/0"}]}},
 {"type": "portmap", "capabilities": {"portMappings": true}}]}
X
}

kubelet_config() { # N
  cat <<X
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $STATE/pki/ca.crt}}
authorization: {mode: Webhook}
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix://$STATE/node-$1/containerd.sock
port: $((10250 + $1))
readOnlyPort: 0
healthzPort: 0
oomScoreAdj: 0
makeIPTablesUtilChains: false
podLogsDir: $STATE/node-$1/logs   # shared, each kubelet would sweep away the logs of the others
nodeStatusUpdateFrequency: 2s
resolvConf: ""
# The nodes share the machine's disk: a full one must not make them evict pods or drop images that no registry has.
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
X
}

make_pause_image() { # the sandbox container's image; no registry is needed
  mkdir -p "$STATE/pause"
  gcc -O2 -static -o "$STATE/pause/pause" "$HERE/pause.c"
  "$HERE/../images/mkimage" --out "$STATE/pause.tar" --name localhost/pause --tag 1 --entrypoint /pause "$STATE/pause" > /dev/null
}
