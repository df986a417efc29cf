import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pruneInstalled, remove } from './prune-installed.mjs'

// Removes files from an installed app that its image does not need: `node prune-image.mjs /app`. Besides the files that
// no machine needs, these are the embedded database (an image uses a server by DATABASE_URL), types and documents.
const root = process.argv[2] ?? '.'
const store = join(root, 'node_modules', '.pnpm')
let bytes = 0
for (const entry of readdirSync(store)) {
  if (entry.startsWith('@electric-sql+pglite')) bytes += remove(join(store, entry))
}
bytes += pruneInstalled(root, /\.(map|d\.ts|d\.mts|d\.cts|md)$/)
process.stdout.write(`removed ${Math.round(bytes / 1e6)} MB\n`)
