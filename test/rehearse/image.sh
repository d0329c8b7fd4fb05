#!/usr/bin/env bash
# image.sh SOURCE TAG WORK makes the image of .ci/release.Dockerfile in the folder WORK from
# the program in SOURCE/dist, with buildah and no engine, and tries it. The base image is made
# of this machine's Debian packages, as no registry is asked.
set -euo pipefail
source=$1 tag=$2 work=$3
base=docker.io/library/debian:bookworm-slim
mkdir -p "$work/context/linux/amd64"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
store=(--root "$work/store" --runroot "$work/run")
finish() { buildah "${store[@]}" rmi --all --force >/dev/null 2>&1 || true; }
trap finish EXIT

mmdebstrap --quiet --variant=minbase --include=passwd bookworm "$work/base.tar"
container=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" add -q "$container" "$work/base.tar" / >/dev/null
buildah "${store[@]}" commit -q "$container" "$base" >/dev/null
buildah "${store[@]}" rm "$container" >/dev/null

zcat "$source/dist/ycbot-linux-amd64.gz" >"$work/context/linux/amd64/ycbot"
chmod 755 "$work/context/linux/amd64/ycbot"
buildah "${store[@]}" bud --pull-never --format docker --build-arg TARGETPLATFORM=linux/amd64 -v /etc/apt:/etc/apt:ro \
  -f "$source/.ci/release.Dockerfile" -t "ycbot:$tag" "$work/context" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }

container=$(buildah "${store[@]}" from --pull-never "ycbot:$tag")
say() { buildah "${store[@]}" run --user 10001:10001 "$container" -- "$@"; }
[[ $(say /usr/local/bin/ycbot version) == *"$tag"* ]] || { echo "the image's program is another one" >&2; exit 1; }
# shellcheck disable=SC2016 # that shell expands it
say /bin/bash -c 'command -v git bwrap bash && test -w /data && test "$(id -u)" = 10001' >/dev/null ||
  { echo "the image lacks a program, or its user cannot write /data" >&2; exit 1; }
[[ $(buildah "${store[@]}" inspect --type image --format '{{.Docker.Config.Entrypoint}} {{.Docker.Config.User}}' "ycbot:$tag") == "[/usr/local/bin/ycbot] 10001:10001" ]] ||
  { echo "the image starts something else" >&2; exit 1; }
buildah "${store[@]}" rm "$container" >/dev/null
buildah "${store[@]}" push -q "ycbot:$tag" "oci-archive:$work/image.tar"
echo "the image has $(stat -c %s "$work/image.tar") bytes; tried: version, git, bwrap, its user and /data"
