import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { TerraneError } from '@terrane/core'
import { parseForeignJson, readBytes } from '@terrane/service'
import { objectNotFound, type ObjectStore } from '@terrane/storage'
import { findUnderRoots } from '../../data-roots.ts'
import { sourceNotFound, stacUnusable } from '../errors.ts'

/** Longest file of STAC items, in bytes. */
export const MAX_ITEM_BYTES = 64 << 20

/** Parses JSON with STAC; its size in memory is bounded before it is parsed. @throws STAC_UNUSABLE */
export function parseStac(text: string, at: string): unknown {
  try {
    return parseForeignJson(text)
  } catch (cause) {
    const why = cause instanceof TerraneError ? cause.message.replace('The body', 'the JSON') : 'it is no JSON'
    throw stacUnusable({ why, at }, { cause })
  }
}

/** The text of an object in storage. @throws OBJECT_NOT_FOUND, STAC_UNUSABLE when it is too long */
export async function readObject(
  store: Pick<ObjectStore, 'head' | 'get'>,
  { bucket, path: key }: { readonly bucket: string; readonly path: string },
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal | undefined },
): Promise<string> {
  const info = await store.head(bucket, key)
  if (!info) throw objectNotFound({ bucket, key })
  guard(info.size, maxBytes, '/stac/storagePath')
  const { body } = await store.get(bucket, key, signal && { signal })
  return Buffer.from(await readBytes(body, info.size)).toString('utf8')
}

/** The text of a file under the data roots. @throws SOURCE_NOT_FOUND, STAC_UNUSABLE when it is too long */
export async function readFileUnderRoots(
  dataRoots: readonly string[],
  name: string,
  { maxBytes, at }: { readonly maxBytes: number; readonly at: string },
): Promise<string> {
  const path = await findUnderRoots(dataRoots, name)
  if (path === null) throw sourceNotFound({ path: basename(name), at })
  guard((await stat(path)).size, maxBytes, at)
  return readFile(path, 'utf8')
}

function guard(bytes: number, maxBytes: number, at: string): void {
  if (bytes > maxBytes) throw stacUnusable({ why: `the file has ${bytes} bytes; ${maxBytes} are allowed`, at })
}
