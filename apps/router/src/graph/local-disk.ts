import { statfs } from 'node:fs/promises'

/**
 * File systems of this machine, by the numbers of `statfs(2)` on Linux; macOS gives them no fixed ones. On others, such as
 * NFS, a file that another machine has replaced is gone for who still uses it.
 */
const LOCAL = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0x2fc12fc1, // ZFS
  0xf2f52010, // F2FS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
])

/** Whether a file lies on a file system that is known to be this machine's own. */
export async function isOnLocalDisk(path: string): Promise<boolean> {
  return process.platform === 'linux' && LOCAL.has((await statfs(path)).type)
}
