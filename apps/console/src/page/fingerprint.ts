import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The file in a built page that records the sources it was built from. */
export const FINGERPRINT_FILE = 'fingerprint'

/** Workspace packages whose sources are part of the page. */
export const PAGE_PACKAGES = ['contracts', 'core', 'map-style', 'tiling'] as const

/**
 * SHA-256 over everything the page is built from: its sources, those of the packages in it, the build's settings and the
 * pinned dependencies.
 */
export async function pageFingerprint(console: string): Promise<string> {
  const packages = PAGE_PACKAGES.map((name) => join(console, '..', '..', 'packages', name))
  const folders = await Promise.all([join(console, 'web'), ...packages.map((path) => join(path, 'src'))].map(filesIn))
  const settings = ['vite.config.ts', 'world.ts', 'package.json'].map((name) => join(console, name))
  const hash = createHash('sha256')
  for (const path of [...folders.flat(), ...settings, ...packages.map((folder) => join(folder, 'package.json'))]) {
    const bytes = await readFile(path)
    hash.update(`${relative(console, path).replaceAll('\\', '/')} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
}
