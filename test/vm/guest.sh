#!/bin/sh
# What runs in the machine: "ycbot sandbox prepare", and the tests, as root and as nobody.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777 tmp /tmp
for dir in /sys/fs/cgroup /sys/kernel/security; do [ -d $dir ] && umount $dir 2>/dev/null; done
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security
uname -r

# tests UID: in a shell of its own, which prepare moves into the cgroup.
tests() {
  mkdir /tmp/"$1"
  chown "$1" /tmp/"$1"
  SUDO_UID=$1 SUDO_GID=$1 TMPDIR=/tmp/$1 HOME=/tmp/$1 sh -c '
    cd "$HOME" && /run/vm/ycbot sandbox prepare --process $$ || exit
    for package in cgroup sandbox; do
      setpriv --reuid="$SUDO_UID" --regid="$SUDO_GID" --clear-groups --inh-caps=-all \
        env -u SUDO_UID -u SUDO_GID "/run/vm/$package.test" -test.v -test.run "$(cat /run/vm/regexp)" || exit
    done
  ' >/tmp/"$1".log 2>&1
  code=$?
  grep -v '^===' /tmp/"$1".log
  # A test that finds no cgroup here shows that prepare did not do what it says.
  [ $code = 0 ] && ! grep -q 'SKIP: TestCgroup' /tmp/"$1".log
}

said="vm: passed"
for user in 0 65534; do
  echo "vm: as user $user"
  tests $user || said="vm: failed"
done
echo "$said"
echo o >/proc/sysrq-trigger
sleep 60
