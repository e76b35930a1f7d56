/** Examples of commands, which end their help and their man pages. */

/** What `hedgerow` prints without arguments. */
export const OVERVIEW = `Usage: hedgerow <command> [options]

The most common commands:

  paths build      build a filter of the paths that a deployment answers
    hedgerow paths build .vercel/output -o paths.filter

  headers check    check lists of header rules
    hedgerow headers check internal.txt

  snapshot create  compress a disk image, into a file or an object service
    hedgerow snapshot create disk.img s3://my-bucket/disk.vhs

  disk attach      serve a disk of a store over NBD, and save what changes
    hedgerow disk attach s3://my-bucket/disks alice --socket alice.socket

hedgerow --help lists all commands; hedgerow <command> --help explains one.
`;

/** Examples of each command, without the program. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  "": ["paths build .vercel/output -o paths.filter", "snapshot restore disk.vhs disk.img"],

  paths: ["paths build dist -o paths.filter", "paths query paths.filter /about"],
  "paths build": [
    "paths build .vercel/output -o paths.filter",
    "paths build public routes.txt --clean-urls --kind fuse -o paths.filter",
    "paths build part-1.txt -o part-1.filter --capacity 10000",
  ],
  "paths merge": ["paths merge part-1.filter part-2.filter -o paths.filter"],
  "paths query": ["paths query paths.filter /about /blog/first"],
  "paths info": ["paths info paths.filter"],

  headers: ["headers check internal.txt"],
  "headers check": [
    "headers check internal.txt --without access-control-allow-origin",
    "headers check allowed.txt --mode keep --direction requests",
  ],

  image: ["image create docker://docker.io/library/debian:stable base.vhs"],
  "image create": [
    "image create docker://docker.io/library/debian:stable base.vhs",
    "image create oci:layout:2.0 version-2.vhs --base version-1.vhs",
    "image create rootfs.tar.gz base.img --free 512MiB",
  ],

  snapshot: ["snapshot create disk.img disk.vhs", "snapshot restore disk.vhs disk.img"],
  "snapshot create": [
    "snapshot create disk.img s3://my-bucket/disk.vhs",
    "snapshot create disk.img delta.vhs --base disk.vhs",
  ],
  "snapshot restore": [
    "snapshot restore s3://my-bucket/disk.vhs disk.img --resume",
    "snapshot restore disk.vhs disk.img --cache /var/cache/images --cache-max-bytes 50GiB",
  ],
  "snapshot flatten": ["snapshot flatten delta.vhs full.vhs"],
  "snapshot info": ["snapshot info disk.vhs"],
  "snapshot verify": ["snapshot verify s3://my-bucket/disk.vhs"],

  disk: [
    "disk create disks alice --image disk.img",
    "disk attach disks alice --socket alice.socket --save-every 5m",
  ],
  "disk open": ["disk open s3://my-bucket/disk.vhs --image vm.raw --socket vm.socket"],
  "disk mount": ["disk mount disk.vhs /mnt"],
  "disk create": [
    "disk create disks alice --image disk.img --label fresh",
    "disk create disks bob --size 10GiB",
  ],
  "disk attach": ["disk attach disks alice --socket alice.socket --save-every 5m"],
  "disk save": ["disk save disks alice --label upgraded"],
  "disk detach": ["disk detach disks alice"],
  "disk list": ["disk list disks --prefix a", "disk list disks --snapshot 6f0d…"],
  "disk stat": ["disk stat disks alice"],
  "disk history": ["disk history disks alice"],
  "disk fork": ["disk fork disks alice bob carol"],
  "disk rollback": ["disk rollback disks alice 3"],
  "disk verify": ["disk verify disks alice --generation 3"],
  "disk expire": ["disk expire disks --keep-last 10 --older-than 30d --dry-run"],
  "disk collect": ["disk collect disks --dry-run"],
  "disk remove": ["disk remove disks alice"],
  "disk recover": [
    "disk recover disks",
    "disk recover disks ~/.local/state/hedgerow/disks/alice-6f0d1a2b.raw --as alice-2",
  ],

  store: ["store check s3://my-bucket/disks"],
  "store check": [
    "store check s3://my-bucket/disks --endpoint https://minio.example.com",
    "store check az://myaccount/mycontainer/disks --json",
  ],

  cache: ["cache stats /var/cache/images"],
  "cache list": ["cache list /var/cache/images"],
  "cache stats": ["cache stats /var/cache/images"],
  "cache verify": ["cache verify /var/cache/images --bytes-per-second 100MiB"],
  "cache prune": [
    "cache prune /var/cache/images --max-bytes 10GiB",
    "cache prune /var/cache/images --all",
  ],

  fleet: ["fleet status --redis redis://localhost:6379"],
  "fleet place": [
    "fleet place 6f0d… --redis redis://localhost:6379",
    "fleet place 6f0d… --hosts hosts.json",
  ],
  "fleet status": ["fleet status --redis redis://localhost:6379"],

  completion: ["completion fish > ~/.config/fish/completions/hedgerow.fish"],
};
