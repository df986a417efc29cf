import { globSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// Removes from an installed app what no image of it runs: `node prune-image.mjs /app`. An image has one platform, no
// database of its own, and nobody who reads types or maps of sources in it.
const root = process.argv[2] ?? '.'
const { platform, arch } = process
const packages = 'node_modules/.pnpm/*/node_modules'

const BELOW = [
  // Of four platforms.
  `${packages}/onnxruntime-node/bin/*/!(${platform})`,
  `${packages}/onnxruntime-node/bin/*/${platform}/!(${arch})`,
  // The embedded database: an image is told a server by DATABASE_URL.
  'node_modules/.pnpm/@electric-sql+pglite*',
]
const FILES = ['map', 'd.ts', 'd.mts', 'd.cts', 'md'].map((ending) => `${packages}/**/*.${ending}`)

let bytes = 0
for (const path of globSync([...BELOW, ...FILES], { cwd: root })) bytes += remove(join(root, path))
process.stdout.write(`removed ${Math.round(bytes / 1e6)} MB\n`)

function remove(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isSymbolicLink()) return 0
  const size = stat.isDirectory()
    ? globSync('**', { cwd: path }).reduce(
        (sum, name) => sum + (lstatSync(join(path, name)).isFile() ? lstatSync(join(path, name)).size : 0),
        0,
      )
    : stat.size
  rmSync(path, { recursive: true })
  return size
}
