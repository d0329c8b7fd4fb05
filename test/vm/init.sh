#!/bin/busybox sh
# shellcheck shell=dash
# The first program of the machine: lays a layer in memory over the files of the host,
# and goes on in there with guest.sh.
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
for file in /modules/*; do $b insmod "$file"; done
{
  $b mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=512000 host /lower &&
    $b mount -t tmpfs upper /upper && $b mkdir /upper/files /upper/work &&
    $b mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work over /new &&
    $b mount -t tmpfs run /new/run && $b mkdir /new/run/vm &&
    $b cp "/lower$($b cat /vm)/cgroup.test" "/lower$($b cat /vm)/sandbox.test" "/lower$($b cat /vm)/ycbot" /guest.sh /regexp /new/run/vm/
} || { echo "vm: cannot mount the files of the host"; $b poweroff -f; }
for dir in proc sys dev; do $b mount --move /$dir /new/$dir; done
exec $b switch_root /new /bin/sh /run/vm/guest.sh
