import { createHash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareKeys } from './key-order.ts'

/** A file of an entry, or a folder of keys (with a slash at the end) that the walk did not go into. */
export interface Found {
  readonly key: string
  /** Null for a folder. */
  readonly file: string | null
}

export interface Walk {
  readonly prefix: string
  /** Only keys after this one. */
  readonly after: string
  /** Folders below the prefix are listed but not read. */
  readonly flat: boolean
}

/** Keys whose entries are in a folder, by code points; reads only folders that can hold requested keys. */
export async function* walk(folder: string, asked: Walk, above = ''): AsyncGenerator<Found> {
  const { prefix, after, flat } = asked
  for (const { key, path } of await children(folder, above)) {
    if (!key.endsWith('/')) {
      if (key.startsWith(prefix) && compareKeys(key, after) > 0) yield { key, file: path }
    } else if (key.startsWith(prefix) ? compareKeys(key, after) > 0 || after.startsWith(key) : prefix.startsWith(key)) {
      if (!flat || prefix.startsWith(key)) yield* walk(path, asked, key)
      else if (compareKeys(key, after) > 0 && (await firstKey(path)) !== null) yield { key, file: null }
    }
  }
}

/**
 * A part of a key as a file name: percent-encoded, and cut and hashed where it would be too long for the file system. A
 * leading `-` keeps a folder `a` (`-a`) apart from the entry of an object `a` (`-a.json`) and of `a.json` (`-a%2Ejson`).
 */
export function fileName(part: string): string {
  const encoded = encodeURIComponent(part).replaceAll('.', '%2E').replaceAll('*', '%2A')
  if (encoded.length <= LONGEST) return `-${encoded}`
  return `-${encoded.slice(0, KEPT)}-${createHash('sha256').update(part).digest('hex')}`
}

/** Reads a JSON file; null when it does not exist. */
export async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

export async function readdirOrEmpty(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const LONGEST = 180
const KEPT = 100
const SUFFIX = '.json'
/** Pattern of names that may have been cut; an uncut name can match it, too. */
const CUT = new RegExp(`^-.{${KEPT}}-[0-9a-f]{64}$`)

/** Entries directly in a folder, with whole keys, in their order. */
async function children(folder: string, above: string) {
  const found: { key: string; path: string }[] = []
  for (const name of await readdirOrEmpty(folder)) {
    const path = join(folder, name)
    const isEntry = name.endsWith(SUFFIX)
    const encoded = isEntry ? name.slice(0, -SUFFIX.length) : name
    let part: string | undefined
    if (CUT.test(encoded)) part = (await firstKey(path))?.slice(above.length).split('/')[0]
    else part = decodeURIComponent(encoded.slice(1))
    if (part !== undefined) found.push({ key: `${above}${part}${isEntry ? '' : '/'}`, path })
  }
  return found.toSorted((a, b) => compareKeys(a.key, b.key))
}

/** The key of an entry, or of the first entry below a folder; null for an empty folder. */
async function firstKey(path: string): Promise<string | null> {
  if (path.endsWith(SUFFIX)) return ((await readJson(path)) as { key: string } | null)?.key ?? null
  for (const name of await readdirOrEmpty(path)) {
    const key = await firstKey(join(path, name))
    if (key !== null) return key
  }
  return null
}
