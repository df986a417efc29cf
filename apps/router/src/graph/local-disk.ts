import { statfs } from 'node:fs/promises'

/** Local file systems by `statfs(2)` of Linux. On others a file that is replaced disappears for its readers. */
const LOCAL = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
])

/** True for a file on a file system that is known to be local. */
export async function isOnLocalDisk(path: string): Promise<boolean> {
  return process.platform === 'linux' && LOCAL.has((await statfs(path)).type)
}
