#!/usr/bin/env bash
# Second step of action.yml: finds the ycbot that belongs to this version of the
# action, or builds it, and puts its path into the output "bin".
#
# At a version tag it is the file of that release for this machine, held against
# the release's SHA256SUMS. At any other ref, and where there is no such release,
# it is built from the action's own source, with Go's own build cache.
set -euo pipefail

fail() {
  echo "::error title=ycbot::$1"
  exit 1
}

# Where the runner unpacked the action tells its repository and ref, also when
# another composite action uses this one: github.action_ref is that one's then.
if [[ $GITHUB_ACTION_PATH =~ /_actions/([^/]+/[^/]+)/([^/]+)$ ]]; then
  ACTION_REPOSITORY=${BASH_REMATCH[1]} ACTION_REF=${BASH_REMATCH[2]}
fi

dir=${RUNNER_TEMP:?}/ycbot-bin
bin=$dir/ycbot
mkdir -p "$dir"

# download NAME TO: 1 where the release or the file is not there.
download() {
  curl -fsSL --proto =https --connect-timeout 10 --max-time 300 --retry 2 -o "$2" \
    "https://github.com/$ACTION_REPOSITORY/releases/download/$ACTION_REF/$1" 2>/dev/null
}

release() {
  local machine asset want
  [[ ${ACTION_REF:-} =~ ^v[0-9]+(\.[0-9]+){0,2}(-[0-9A-Za-z.-]+)?$ && -n ${ACTION_REPOSITORY:-} ]] || return 1
  machine=$(uname -m)
  case $machine in
  x86_64) machine=amd64 ;;
  aarch64 | arm64) machine=arm64 ;;
  esac
  asset=ycbot-$(uname -s | tr '[:upper:]' '[:lower:]')-$machine
  command -v curl >/dev/null && download SHA256SUMS "$dir/SHA256SUMS" || return 1
  want=$(awk -v name="$asset" '$2 == name || $2 == "*" name { print $1 }' "$dir/SHA256SUMS")
  [[ $want =~ ^[0-9a-f]{64}$ ]] || return 1
  download "$asset" "$bin.new" || fail "$asset is listed in the release $ACTION_REF of $ACTION_REPOSITORY and cannot be downloaded"
  [[ $(digest "$bin.new") == "$want" ]] || fail "$asset of the release $ACTION_REF is not what SHA256SUMS says: it is not run"
  chmod 755 "$bin.new"
  mv "$bin.new" "$bin"
  echo "ycbot: release $ACTION_REF of $ACTION_REPOSITORY, $want"
}

digest() {
  if command -v sha256sum >/dev/null; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d' ' -f1
}

# What the workflow set for its own builds has no say here.
build() {
  command -v go >/dev/null || fail "there is no release of ycbot for ${ACTION_REF:-this ref}, and no Go to build it with. Use a release tag of the action, or put actions/setup-go before it."
  env -u GOOS -u GOARCH -u GOEXPERIMENT GOFLAGS='' GOWORK=off CGO_ENABLED=0 \
    go build -C "$GITHUB_ACTION_PATH" -trimpath -ldflags='-s -w' -o "$bin" ./cmd/ycbot ||
    fail "ycbot could not be built from its source at ${ACTION_REF:-this ref}"
  echo "ycbot: built from source"
}

release || build
printf 'bin=%s\n' "$bin" >>"$GITHUB_OUTPUT"
