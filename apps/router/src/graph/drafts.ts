import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { folderUnwritable } from '../errors.ts'

const PREFIX = 'draft-'
/** Time without a write after which a draft counts as left behind by a killed router, in milliseconds. */
const ABANDONED_MS = 86_400_000

/** A folder for what is not complete yet; it is removed with all that is still in it. */
export interface Draft extends AsyncDisposable {
  readonly path: string
}

/**
 * Makes a draft in a folder, which is made too where it is missing. Routers that share the folder do not share drafts.
 * Drafts that were left behind are removed.
 *
 * @throws GRAPH_FOLDER_UNWRITABLE
 */
export async function openDraft(folder: string): Promise<Draft> {
  try {
    await mkdir(folder, { recursive: true })
    await removeAbandoned(folder)
    const path = await mkdtemp(join(folder, PREFIX))
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw folderUnwritable({ folder, reason: code ?? message }, { cause })
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(PREFIX)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { recursive: true, force: true })
  }
}
