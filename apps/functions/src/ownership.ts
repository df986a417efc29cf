import { constants, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Claim {
  /** New owner; only root can give files away, so others leave it out. */
  readonly uid?: number
  readonly fileMode: number
  readonly folderMode: number
}

/**
 * Sets owner and modes of a folder and its contents. Links, sockets and files with another hard link, which a process
 * may have left there, are removed instead: changing them would change something outside.
 */
export async function claimFolder(folder: string, claim: Claim): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await claimFolder(path, claim)
    else if (!entry.isFile() || !(await claimPath(path, claim.fileMode, claim))) await rm(path, { force: true })
  }
  await claimPath(folder, claim.folderMode, claim)
}

/** Works through a descriptor, which no link can redirect; false for a file with several hard links. */
async function claimPath(path: string, mode: number, { uid }: Claim): Promise<boolean> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const facts = await file.stat()
  if (facts.isFile() && facts.nlink > 1) return false
  if (uid !== undefined) await file.chown(uid, uid)
  await file.chmod(mode)
  return true
}
