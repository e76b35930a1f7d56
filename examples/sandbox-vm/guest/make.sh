#!/bin/sh
# Makes what a virtual machine starts from in the folder $1:
#
# - `vmlinuz`, Debian's kernel for virtual machines. It is not installed: its scripts would change how this host starts;
# - `initramfs`, which mounts the disk;
# - `image`, a container image with busybox, and the agent as its init, in an OCI layout.
#
# Needs Debian's packages busybox-static and umoci.
set -eu
guest=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1/package" "$1/initial/bin" "$1/initial/dev" "$1/initial/lib" "$1/initial/mnt"
cd "$1"
busybox=$(command -v busybox)

kernel() {
  apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-.*\)/\1/p'
}
download() {
  (cd package && apt-get -o APT::Sandbox::User=root download "$(kernel)")
}
# The package lists of a fresh machine are missing or stale.
download || { apt-get update && download; }
dpkg-deb --extract package/*.deb package
mv package/boot/vmlinuz-* vmlinuz
for module in virtio/virtio virtio/virtio_ring virtio/virtio_pci virtio/virtio_pci_modern_dev \
  virtio/virtio_pci_legacy_dev block/virtio_blk; do
  cp package/lib/modules/*/kernel/drivers/"$module".ko initial/lib
done
cp "$guest/init" initial
cp "$busybox" initial/bin/busybox
ln -s busybox initial/bin/sh
(cd initial && find . | busybox cpio -o -H newc) >initramfs

for folder in bin dev etc proc root sbin sys tmp; do mkdir -p "disk/$folder"; done
cp "$busybox" disk/bin/busybox
for program in $(busybox --list); do
  [ -e "disk/bin/$program" ] || ln -s busybox "disk/bin/$program"
done
cp "$guest/agent" disk/sbin/init
cp /etc/os-release disk/etc
umoci init --layout image
umoci new --image image:latest
umoci insert --rootless --image image:latest disk /
umoci config --image image:latest --config.entrypoint /sbin/init
rm -r package initial disk
