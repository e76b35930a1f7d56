#!/bin/sh
# Makes what a virtual machine starts from in the folder $1:
#
# - `vmlinuz`, Debian's kernel for virtual machines. It is not installed: its scripts would change how this host starts;
# - `initramfs`, which mounts the disk;
# - `image`, a container image with busybox, and an agent as its init, in an OCI layout.
#
# Needs Debian's packages busybox-static and umoci.
set -eu
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
cat >initial/init <<'END'
#!/bin/sh
# The first process of a virtual machine: loads the drivers of virtual disks, and gives its place to the init of the
# disk, or to a shell if the disk has none.
export PATH=/bin
busybox mount -t devtmpfs dev /dev
for module in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk; do
  busybox insmod "/lib/$module.ko"
done
busybox mount -t ext4 /dev/vda /mnt
[ -x /mnt/sbin/init ] && exec busybox switch_root /mnt /sbin/init
exec busybox switch_root /mnt /bin/sh
END
chmod +x initial/init
cp "$busybox" initial/bin/busybox
ln -s busybox initial/bin/sh
(cd initial && find . | busybox cpio -o -H newc) >initramfs

for folder in bin dev etc proc root sbin sys tmp; do mkdir -p "disk/$folder"; done
cp "$busybox" disk/bin/busybox
for program in $(busybox --list); do
  [ -e "disk/bin/$program" ] || ln -s busybox "disk/bin/$program"
done
cat >disk/sbin/init <<'END'
#!/bin/sh
# The init of a sandbox: an agent on each of two serial ports, for commands of users and of the host. It runs each line
# that the host sends, after an ID, and answers with the output, a NUL, the ID and the exit code. The first answer means
# that the machine has booted.
export PATH=/bin HOME=/root
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
cd /root
serve() {
  exec <>"$1" >&0 2>&1
  stty -echo -onlcr
  printf '\0%s %d\n' boot 0
  while IFS= read -r line; do
    (eval "${line#* }") </dev/null
    printf '\0%s %d\n' "${line%% *}" $?
  done
}
serve /dev/ttyS2 &
serve /dev/ttyS1
END
chmod +x disk/sbin/init
cp /etc/os-release disk/etc
umoci init --layout image
umoci new --image image:latest
umoci insert --rootless --image image:latest disk /
umoci config --image image:latest --config.entrypoint /sbin/init
rm -r package initial disk
