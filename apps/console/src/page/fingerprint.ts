import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The file in a built page that records the sources it was built from. */
export const FINGERPRINT_FILE = 'fingerprint'

/** SHA-256 over everything the page is built from: its sources, the build's settings and the pinned dependencies. */
export async function pageFingerprint(console: string): Promise<string> {
  const web = await readdir(join(console, 'web'), { recursive: true, withFileTypes: true })
  const files = web.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = createHash('sha256')
  for (const path of [
    ...files.toSorted(),
    ...['vite.config.ts', 'world.ts', 'package.json'].map((name) => join(console, name)),
  ]) {
    const bytes = await readFile(path)
    hash.update(`${relative(console, path).replaceAll('\\', '/')} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}
