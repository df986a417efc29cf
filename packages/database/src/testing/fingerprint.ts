import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const PACKAGE = new URL('../../', import.meta.url)

/** Names the state that a prepared database has: it changes with the migrations, the embedded database and PGlite's version. */
export async function fingerprint(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(new URL('package.json', PACKAGE)))
  for (const folder of ['migrations/', 'src/embedded/']) {
    const url = new URL(folder, PACKAGE)
    for (const entry of (await readdir(fileURLToPath(url), { recursive: true })).toSorted()) {
      if (/\.(sql|ts)$/.test(entry) && !entry.endsWith('.test.ts')) hash.update(await readFile(new URL(entry, url)))
    }
  }
  return hash.digest('hex').slice(0, 16)
}
