import { constants, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Claim {
  /** New owner; only root can give files away, so others leave it out. */
  readonly uid?: number
  readonly fileMode: number
  readonly folderMode: number
}

/**
 * Gives a folder and all in it an owner and modes. What a process that wrote there may have left to be followed (links,
 * sockets, files that have another name elsewhere) is removed instead: changing those would change something else.
 */
export async function claimFolder(folder: string, claim: Claim): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await claimFolder(path, claim)
    else if (!entry.isFile() || !(await claimPath(path, claim.fileMode, claim))) await rm(path, { force: true })
  }
  await claimPath(folder, claim.folderMode, claim)
}

/** Works through a descriptor, which no link can lead elsewhere; false for a file of several names. */
async function claimPath(path: string, mode: number, { uid }: Claim): Promise<boolean> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  const facts = await file.stat()
  if (facts.isFile() && facts.nlink > 1) return false
  if (uid !== undefined) await file.chown(uid, uid)
  await file.chmod(mode)
  return true
}
