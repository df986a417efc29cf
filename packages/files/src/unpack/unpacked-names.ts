import { zipRefused } from '../errors.ts'

const LONGEST_NAME = 200
const IN_GEODATABASE = /(?:^|\/)([^/]+\.gdb)\/([^/]+)$/
/** Folder for geodatabase files that are in no folder. */
const GEODATABASE = 'data.gdb'

/** @throws ZIP_REFUSED for a path that leads elsewhere, or that no file system takes */
export function checkPath(path: string): void {
  const parts = path.split('/')
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  const isOdd = path === '' || path.startsWith('/') || /[\\:\u0000-\u001f]/.test(path)
  if (isOdd || parts.includes('..') || Buffer.byteLength(parts.at(-1)!.toLowerCase()) > LONGEST_NAME) {
    throw zipRefused({ reason: `it holds the path ${JSON.stringify(path.slice(0, 80))}` })
  }
}

/**
 * Target paths of the files of an archive: names in lower case without folders, or if two names are equal, the whole
 * paths with `_` for slashes. Files of a geodatabase go into a folder with its name. Files that macOS adds are left out.
 *
 * @throws ZIP_REFUSED
 */
export function planTargets(paths: readonly string[]): Map<string, string> {
  const kept = paths.filter((path) => !path.startsWith('__MACOSX/') && !nameOf(path).startsWith('.'))
  if (kept.length === 0) throw zipRefused({ reason: 'it holds no files' })
  const isBareGeodatabase = kept.some((path) => /\.gdbtable$/i.test(path) && !IN_GEODATABASE.test(path.toLowerCase()))
  const names = kept.map((path) => nameOf(path).toLowerCase())
  const hasTwins = new Set(names).size < names.length
  const targets = new Map<string, string>()
  const taken = new Set<string>()
  for (const [i, path] of kept.entries()) {
    const [, geodatabase, file] = IN_GEODATABASE.exec(path.toLowerCase()) ?? []
    const flat = hasTwins ? path.toLowerCase().replaceAll('/', '_').slice(-LONGEST_NAME) : names[i]!
    const target = geodatabase ? `${geodatabase}/${file}` : isBareGeodatabase ? `${GEODATABASE}/${names[i]}` : flat
    if (taken.has(target)) throw zipRefused({ reason: `it holds two files of the name ${target}` })
    taken.add(target)
    targets.set(path, target)
  }
  return targets
}

/** The folders within the target folder that files go into. */
export function foldersOf(targets: ReadonlyMap<string, string>): Set<string> {
  return new Set([...targets.values()].flatMap((target) => (target.includes('/') ? [target.split('/')[0]!] : [])))
}

function nameOf(path: string): string {
  return path.split('/').at(-1)!
}
