# One network namespace per cluster. It has no default route and no link to the machine's network.

in_network() { nsenter --net="$NETNS" "$@"; }

make_network() { # NODES
  local i
  ip netns add "$(basename "$NETNS")"
  in_network ip link set lo up
  # Node addresses must not be loopback, and the kernel need not have the `dummy` device: they sit on a bridge.
  in_network ip link add hosts type bridge
  in_network ip addr add 10.88.0.1/24 dev hosts
  for i in $(seq "$1"); do in_network ip addr add "10.88.0.$((10 + i))/24" dev hosts; done
  in_network ip link set hosts up
  in_network sysctl -qw net.ipv4.ip_forward=1
}

# The user's kubectl reaches the API server through a port of 127.0.0.1, the first that is free.
open_door() {
  local port
  exec 8> "$BASE/clusters/.ports.lock"; flock 8
  for port in $(seq 16443 16543); do
    [ -z "$(ss -Hltn "sport = :$port")" ] || continue
    start_outside door socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" \
      EXEC:"nsenter --net=$NETNS socat STDIO TCP\:10.88.0.1\:6443"
    wait_for 10 "port $port" door eval '[ -n "$(ss -Hltn "sport = :'"$port"'")" ]'
    echo "$port" > "$STATE/port"; exec 8>&-; return
  done
  die "no free port of 127.0.0.1 from 16443 to 16543"
}

node_cut() { # N: what its pods send to others, and others to them, is dropped; the kubelet says nothing to the API server
  local kubelet
  kubelet=$(living "node-$1.kubelet") || die "node-$1 is dead"
  in_network nft list table inet "cut-$1" > /dev/null 2>&1 && return
  kill -STOP "$kubelet"
  in_network nft -f - <<X
table inet cut-$1 {
  chain forward { type filter hook forward priority -10; iifname "pods-$1" drop; oifname "pods-$1" drop; }
  chain input { type filter hook input priority -10; iifname "pods-$1" drop; }
  chain output { type filter hook output priority -10; oifname "pods-$1" drop; }
}
X
}

node_heal() { # N
  local kubelet
  in_network nft delete table inet "cut-$1" 2> /dev/null || true
  if kubelet=$(living "node-$1.kubelet"); then kill -CONT "$kubelet"; fi
}
