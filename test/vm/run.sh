#!/usr/bin/env bash
# test/vm/run.sh [REGEXP]: tests of internal/sandbox and its cgroups in a virtual machine that has what
# this machine may lack: a kernel of Debian's with a cgroup of version 2, set up by
# "ycbot sandbox prepare". They run as root and as an ordinary user; without REGEXP those
# of cgroups. The machine's files are this one's, read-only, with a layer in memory above,
# and it has no network. It is emulated, without KVM, and takes some minutes.
#
# Needs Debian or Ubuntu on amd64, Go, and the packages below. What it makes and fetches
# is in bin/vm; KERNEL names another package.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$here/../.."

for want in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio depmod:kmod go:golang-go apt-get:apt; do
  command -v "${want%%:*}" >/dev/null || { echo "vm: ${want%%:*} is not here; install ${want##*:}" >&2; exit 1; }
done

vm=$PWD/bin/vm
mkdir -p "$vm"
go test -c -o "$vm/cgroup.test" ./internal/sandbox/cgroup
go test -c -o "$vm/sandbox.test" ./internal/sandbox
go build -o "$vm/ycbot" ./cmd/ycbot

# the kernel: only unpacked, nothing is installed
package=${KERNEL:-$(apt-cache depends linux-image-amd64 | awk '/Depends:/ {print $2; exit}')}
kernel=$vm/$package
if [[ ! -e $kernel/done ]]; then
  rm -rf "$kernel"
  mkdir -p "$kernel"
  (cd "$kernel" && apt-get -qq download "$package" && dpkg-deb -x ./*.deb . && rm ./*.deb)
  [[ -e $kernel/lib ]] || ln -s usr/lib "$kernel/lib"
  touch "$kernel/done"
fi
version=$(basename "$kernel"/lib/modules/*)
depmod -b "$kernel" "$version"

# the first file system: the modules in their order, and what mounts the rest
first=$(mktemp -d)
trap 'rm -rf "$first"' EXIT
mkdir -p "$first"/{bin,modules,lower,upper,new,proc,sys,dev}
cp "$(command -v busybox)" "$first/bin/busybox"
cp "$here/init.sh" "$first/init"
cp "$here/guest.sh" "$first/guest.sh"
chmod 755 "$first/init"
printf '%s\n' "$vm" >"$first/vm"
printf '%s\n' "${1:-Cgroup}" >"$first/regexp"
for name in virtio_pci 9pnet_virtio 9p overlay; do
  modprobe -d "$kernel" -S "$version" --show-depends "$name" | awk '$1 == "insmod" {print $2}'
done | awk '!seen[$0]++' | {
  number=100
  while read -r file; do
    number=$((number + 1))
    cp "$file" "$first/modules/$number-$(basename "$file")"
  done
}
find "$first/modules" -name '*.xz' -exec xz -d {} +
(cd "$first" && find . | cpio --quiet -o -H newc) >"$vm/first.cpio"

timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 3G -nographic -no-reboot -nic none \
  -kernel "$kernel/boot/vmlinuz-$version" -initrd "$vm/first.cpio" -append "console=ttyS0 quiet loglevel=0 panic=-1" \
  -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap </dev/null | tee "$vm/log"

tr -d '\r' <"$vm/log" | grep -qx 'vm: passed' # what the machine says last
