import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const SERVER = import.meta.resolve('@terrane/pglite-server')
/** Inputs of a prepared database: the migrations, and the embedded server with its version of PGlite. */
const SOURCES = [
  new URL('../../migrations/', import.meta.url),
  new URL('./', SERVER),
  new URL('../package.json', SERVER),
]

/** Hash of the sources of a prepared database. */
export async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const source of SOURCES) for (const file of await filesOf(source)) hash.update(await readFile(file))
  return hash.digest('hex').slice(0, 16)
}

async function filesOf(source: URL): Promise<URL[]> {
  if (!source.href.endsWith('/')) return [source]
  const names = await readdir(fileURLToPath(source), { recursive: true })
  return names
    .filter((name) => /\.(?:sql|ts)$/.test(name) && !name.endsWith('.test.ts'))
    .toSorted()
    .map((name) => new URL(name, source))
}
