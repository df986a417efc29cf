import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { folderUnwritable } from '../errors.ts'

const PREFIX = 'draft-'
/** Milliseconds without a write after which a draft counts as left by a killed router. */
const ABANDONED_MS = 86_400_000

/** A folder for incomplete files; it is removed with its remaining contents. */
export interface Draft extends AsyncDisposable {
  readonly path: string
}

/**
 * Creates a draft in a folder, and the folder if it is missing. Routers that share the folder have separate drafts.
 * Abandoned drafts are removed.
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
