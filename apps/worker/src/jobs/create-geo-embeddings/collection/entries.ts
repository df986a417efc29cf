import { MAX_GEO_SOURCES, type CreateGeoEmbeddings, type GeoSource } from '@terrane/contracts'
import type { GuardedFetch } from '@terrane/service'
import { requireBucket } from '../../stored-object.ts'
import type { Project } from '../../task.ts'
import { badSource, noSources, sameSource, sourcesConflict, stacUnusable, tooManySources } from '../errors.ts'
import { nameOf, sourceOf } from '../source.ts'
import { rastersOfStac, type StacRaster } from './stac.ts'

/** One raster of a request for many: the request that it would be alone. */
export interface Entry {
  readonly name: string
  readonly body: CreateGeoEmbeddings
  /** Where it stands in the request. */
  readonly at: string
}

const SOURCE_FIELDS = ['geotiffPath', 'storagePath', 'sources', 'storagePrefix', 'stac'] as const
/** Of an answer with STAC items. */
const STAC_BYTES = 64 << 20
const STAC_MS = 60_000

/** Whether a request is worked on in parts: it may name many rasters, or add to a table. */
export function isCollection(body: CreateGeoEmbeddings): boolean {
  return (
    body.mode === 'append' || body.sources !== undefined || body.storagePrefix !== undefined || body.stac !== undefined
  )
}

/**
 * The rasters of a request that can be told without a fetch: null for STAC items that lie elsewhere.
 *
 * @throws CONFLICTING_FIELDS, SOURCE_MISSING, NO_SOURCES, TOO_MANY_SOURCES, SAME_SOURCE, STAC_UNUSABLE, BUCKET_NOT_FOUND
 */
export async function entriesAtHand(
  body: CreateGeoEmbeddings,
  project: Pick<Project, 'store'>,
  dataRoots: readonly string[],
): Promise<Entry[] | null> {
  const fields = SOURCE_FIELDS.filter((field) => body[field] !== undefined)
  if (fields.length > 1) throw sourcesConflict({ fields })
  const { sources, storagePrefix, stac } = body
  if (stac) {
    if ((stac.items === undefined) === (stac.url === undefined)) {
      throw stacUnusable({ why: 'one of items and url is needed', at: '/stac' })
    }
    if (stac.items === undefined) return null
    return checked(stacEntries(body, rastersOfStac(stac.items, stac.asset ?? null, '/stac/items', null), '/stac/items'))
  }
  if (storagePrefix) return checked(await listedEntries(body, storagePrefix, project))
  const listed: readonly GeoSource[] = sources ?? [{}]
  return checked(
    listed.map((source, i): Entry => {
      const at = sources ? `/sources/${i}` : '/geotiffPath'
      const { name, ...own } = source
      const alone = single(body, own)
      const raster = sourceOf(alone.geotiffPath, alone.storagePath)
      if (raster === null) throw badSource({ at })
      return { name: name ?? nameOf(raster, dataRoots), body: alone, at }
    }),
  )
}

/** The rasters of a request. @throws as {@link entriesAtHand}, and what the guarded fetch throws */
export async function entriesOf(
  body: CreateGeoEmbeddings,
  project: Pick<Project, 'store'>,
  dataRoots: readonly string[],
  { fetch, signal }: { readonly fetch: GuardedFetch; readonly signal: AbortSignal },
): Promise<Entry[]> {
  const atHand = await entriesAtHand(body, project, dataRoots)
  if (atHand !== null) return atHand
  const url = body.stac!.url!
  const response = await fetch(url, { maxBytes: STAC_BYTES, timeoutMs: STAC_MS, signal })
  const text = Buffer.concat(await Array.fromAsync(response.body)).toString('utf8')
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    throw stacUnusable({ why: 'the answer is no JSON', at: '/stac/url' })
  }
  return checked(stacEntries(body, rastersOfStac(answer, body.stac!.asset ?? null, '/stac/url', url), '/stac/url'))
}

/** What is said of a job as a whole; a strict one takes offence at what all of it warns of. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  ...SOURCE_FIELDS.slice(2),
  'mode',
  'strict',
  'scale',
  'scaleFrom',
  'projectTarget',
])

/** The request of one raster, with what it says of it alone. */
function single(body: CreateGeoEmbeddings, own: Partial<CreateGeoEmbeddings>): CreateGeoEmbeddings {
  const common = Object.entries(body).filter(([field]) => !OF_THE_WHOLE.has(field))
  return { ...(Object.fromEntries(common) as CreateGeoEmbeddings), ...own }
}

function stacEntries(body: CreateGeoEmbeddings, rasters: readonly StacRaster[], at: string): Entry[] {
  if (rasters.length === 0) throw noSources({ where: 'among the STAC items: there are none', at })
  return rasters.map(({ name, href, datetime }) => ({
    name,
    body: single(body, { geotiffPath: href, ...(datetime !== null && { datetime }) }),
    at,
  }))
}

async function listedEntries(
  body: CreateGeoEmbeddings,
  { bucket, prefix }: { readonly bucket: string; readonly prefix: string },
  { store }: Pick<Project, 'store'>,
): Promise<Entry[]> {
  const at = '/storagePrefix'
  await requireBucket(store, bucket)
  const entries: Entry[] = []
  for await (const { key } of store.list(bucket, prefix)) {
    if (!/\.tiff?$/i.test(key)) continue
    const storagePath = { bucket, path: key }
    entries.push({ name: `${bucket}/${key}`, body: single(body, { storagePath }), at })
  }
  if (entries.length === 0) throw noSources({ where: `below ${bucket}/${prefix}`, at })
  return entries
}

function checked(entries: Entry[]): Entry[] {
  if (entries.length > MAX_GEO_SOURCES) throw tooManySources({ sources: entries.length, limit: MAX_GEO_SOURCES })
  const names = new Set<string>()
  for (const { name, at } of entries) {
    if (names.has(name)) throw sameSource({ name, at })
    names.add(name)
  }
  return entries
}
