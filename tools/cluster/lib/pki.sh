# The cluster's own certificate authority, a certificate for each part, and the kubeconfigs made of them.

API=https://10.88.0.1:6443

make_certificates() { # NODES
  local pki=$STATE/pki i
  (umask 077; mkdir -p "$pki")
  new_key "$pki/sa.key"; openssl pkey -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
  new_key "$pki/ca.key"; openssl req -x509 -new -key "$pki/ca.key" -out "$pki/ca.crt" -days 365 -subj "/CN=dynatrain-$NAME-ca"
  issue server /CN=kube-apiserver \
    "subjectAltName=DNS:kubernetes.default.svc,DNS:kubernetes.default,DNS:kubernetes,DNS:localhost,IP:127.0.0.1,IP:10.88.0.1,IP:10.96.0.1"
  issue admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
  issue proxy /CN=system:kube-proxy extendedKeyUsage=clientAuth
  for i in $(seq "$1"); do issue "node-$i" "/O=system:nodes/CN=system:node:node-$i" extendedKeyUsage=clientAuth; done
}

new_key() { (umask 077; openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2> /dev/null); }

issue() { # NAME SUBJECT EXTENSION: NAME.key, NAME.crt and NAME.kubeconfig
  local file=$STATE/pki/$1
  new_key "$file.key"
  openssl req -new -key "$file.key" -subj "$2" |
    openssl x509 -req -CA "$STATE/pki/ca.crt" -CAkey "$STATE/pki/ca.key" -CAcreateserial -days 365 -out "$file.crt" \
      -extfile <(echo "$3") 2> /dev/null
  kubeconfig "$API" "$file" > "$file.kubeconfig"
}

kubeconfig() { # SERVER CERTIFICATE (without .crt)
  cat <<X
apiVersion: v1
kind: Config
current-context: $NAME
contexts: [{name: $NAME, context: {cluster: $NAME, user: $NAME}}]
clusters: [{name: $NAME, cluster: {server: "$1", certificate-authority: $STATE/pki/ca.crt}}]
users: [{name: $NAME, user: {client-certificate: $2.crt, client-key: $2.key}}]
X
}
