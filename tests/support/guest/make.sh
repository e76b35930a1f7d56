#!/bin/sh
# Makes what a guest in QEMU starts from in the folder $1: `vmlinuz`, Debian's kernel for virtual machines, and `initramfs`.
# The kernel is not installed: its scripts would change how this machine starts.
set -eu
support=$(cd "$(dirname "$0")" && pwd)
rm -rf "$1"
mkdir -p "$1/package" "$1/root/bin" "$1/root/dev" "$1/root/lib" "$1/root/root"
cd "$1"

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
  cp package/lib/modules/*/kernel/drivers/"$module".ko root/lib
done
cp "$support/init" root
cp "$(command -v busybox)" root/bin/busybox
ln -s busybox root/bin/sh
(cd root && find . | busybox cpio -o -H newc) >initramfs
rm -r package root
