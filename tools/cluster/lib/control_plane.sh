# etcd, API server, controllers, scheduler, and the one kube-proxy that serves all nodes (they share a network namespace).

start_control_plane() {
  local pki=$STATE/pki
  start etcd "$ETCD_BIN/etcd" --data-dir "$STATE/etcd" --unsafe-no-fsync --listen-peer-urls http://127.0.0.1:2380 \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --watch-progress-notify-interval 5s
  start apiserver "$BIN/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 \
    --bind-address=10.88.0.1 --advertise-address=10.88.0.1 --secure-port=6443 \
    --tls-cert-file="$pki/server.crt" --tls-private-key-file="$pki/server.key" --client-ca-file="$pki/ca.crt" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/sa.pub" \
    --service-account-signing-key-file="$pki/sa.key" --service-cluster-ip-range=10.96.0.0/24 --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement --allow-privileged=true \
    --kubelet-preferred-address-types=InternalIP --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key"
  open_door
  kubeconfig "https://127.0.0.1:$(cat "$STATE/port")" "$pki/admin" > "$STATE/kubeconfig"
}

start_controllers() {
  local pki=$STATE/pki
  start controller-manager "$BIN/kube-controller-manager" --kubeconfig="$pki/admin.kubeconfig" \
    --use-service-account-credentials=true --service-account-private-key-file="$pki/sa.key" --root-ca-file="$pki/ca.crt" \
    --leader-elect=false
  start scheduler "$BIN/kube-scheduler" --kubeconfig="$pki/admin.kubeconfig" --leader-elect=false
  start proxy "$BIN/kube-proxy" --kubeconfig="$pki/proxy.kubeconfig" --proxy-mode=nftables --cluster-cidr=10.88.0.0/16 \
    --hostname-override=node-1 --conntrack-max-per-core=0
}
