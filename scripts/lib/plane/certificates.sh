# Owns: the certificates, keys and kubeconfigs of a plane, made with the openssl command into D/pki and D/kubeconfig.
# Leaves to others: who uses which.
# shellcheck shell=bash

ec_key() { openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null ||
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1" 2>/dev/null; }

make_ca() {
  ec_key "$1.key" && openssl req -x509 -new -key "$1.key" -out "$1.crt" -days 3 -subj "/CN=$2" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign"
}

# issue CA OUT SUBJECT EXTENSIONS
issue() {
  ec_key "$2.key" &&
    openssl req -new -key "$2.key" -subj "$3" |
    openssl x509 -req -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days 2 -out "$2.crt" \
      -extfile <(printf 'basicConstraints=CA:FALSE\nkeyUsage=critical,digitalSignature\n%s\n' "$4") 2>/dev/null
}

# kubeconfig D NAME SERVER: a kubeconfig with the certificates inside, so that it can be copied elsewhere.
kubeconfig() {
  local pki=$1/pki
  cat >"$1/kubeconfig/$2" <<CONFIG
apiVersion: v1
kind: Config
clusters:
- name: plane
  cluster:
    server: $3
    certificate-authority-data: $(base64 -w0 "$pki/ca.crt")
users:
- name: $2
  user:
    client-certificate-data: $(base64 -w0 "$pki/$2.crt")
    client-key-data: $(base64 -w0 "$pki/$2.key")
contexts:
- name: plane
  context: {cluster: plane, user: $2}
current-context: plane
CONFIG
  chmod 600 "$1/kubeconfig/$2"
}

# make_certificates D SERVER
make_certificates() {
  local dir=$1 pki=$1/pki
  mkdir -p "$pki" "$dir/kubeconfig"
  chmod 700 "$pki" "$dir/kubeconfig"
  local client="extendedKeyUsage=clientAuth"
  local names="DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local"
  {
    make_ca "$pki/ca" plane-ca &&
      make_ca "$pki/front-proxy-ca" plane-front-proxy-ca &&
      issue "$pki/ca" "$pki/serving" /CN=kube-apiserver \
        "extendedKeyUsage=serverAuth"$'\n'"subjectAltName=IP:127.0.0.1,IP:10.0.0.1,$names" &&
      issue "$pki/ca" "$pki/admin" /O=system:masters/CN=admin "$client" &&
      issue "$pki/ca" "$pki/kube-controller-manager" /CN=system:kube-controller-manager "$client" &&
      issue "$pki/ca" "$pki/kube-scheduler" /CN=system:kube-scheduler "$client" &&
      issue "$pki/ca" "$pki/kwok" /O=system:masters/CN=kwok "$client" &&
      issue "$pki/front-proxy-ca" "$pki/front-proxy-client" /CN=front-proxy-client "$client" &&
      ec_key "$pki/sa.key" &&
      openssl pkey -in "$pki/sa.key" -pubout -out "$pki/sa.pub"
  } >"$dir/log/openssl.log" 2>&1 || { cat "$dir/log/openssl.log" >&2; die "openssl could not make the certificates"; }
  local name
  for name in admin kube-controller-manager kube-scheduler kwok; do kubeconfig "$dir" "$name" "$2"; done
}
