import { MAX_GEO_SOURCES, type CreateGeoEmbeddings, type GeoSource } from '@terrane/contracts'
import type { GuardedFetch } from '@terrane/service'
import { requireBucket } from '../../stored-object.ts'
import type { Project } from '../../task.ts'
import { badSource, noSources, sameSource, sourcesConflict, tooManySources } from '../errors.ts'
import { rastersOfStac, type SourceFacts, type StacRaster } from '../scenes/stac-sources.ts'
import { nameOf, sourceOf } from '../source.ts'

/** One raster of a request for many, as a request of its own. */
export interface Entry {
  readonly name: string
  readonly body: CreateGeoEmbeddings
  /** JSON pointer to it in the request. */
  readonly at: string
  /** Facts about the source for the catalogue. */
  readonly facts: SourceFacts | null
}

/** Context in which the rasters of a request are listed. */
export interface EntryContext {
  readonly project: Pick<Project, 'store'>
  readonly dataRoots: readonly string[]
  /** The model's names of its channels. */
  readonly channels: readonly string[]
}

const SOURCE_FIELDS = ['geotiffPath', 'storagePath', 'assets', 'sources', 'storagePrefix', 'stac'] as const

/** True for a request that is split into shards: it may name many rasters, or append to a table. */
export function isCollection(body: CreateGeoEmbeddings): boolean {
  return (
    body.mode === 'append' || body.sources !== undefined || body.storagePrefix !== undefined || body.stac !== undefined
  )
}

/**
 * The rasters of a request that are known without a fetch; null for STAC items at a URL.
 *
 * @throws CONFLICTING_FIELDS, SOURCE_MISSING, NO_SOURCES, TOO_MANY_SOURCES, SAME_SOURCE, STAC_UNUSABLE, BUCKET_NOT_FOUND
 */
export async function entriesAtHand(
  body: CreateGeoEmbeddings,
  context: EntryContext,
  remote: { readonly fetch: GuardedFetch; readonly signal: AbortSignal } | null = null,
): Promise<Entry[] | null> {
  const fields = SOURCE_FIELDS.filter((field) => body[field] !== undefined)
  if (fields.length > 1) throw sourcesConflict({ fields })
  const { sources, storagePrefix, stac } = body
  if (stac) {
    const rasters = await rastersOfStac(stac, { ...context, remote })
    return rasters && checked(stacEntries(body, rasters))
  }
  if (storagePrefix) return checked(await listedEntries(body, storagePrefix, context.project))
  const listed: readonly GeoSource[] = sources ?? [{}]
  return checked(
    listed.map((source, i): Entry => {
      const at = sources ? `/sources/${i}` : '/geotiffPath'
      const { name, ...own } = source
      const alone = single(body, own)
      const raster = sourceOf(alone, sources ? at : '')
      if (raster === null) throw badSource({ at })
      return { name: name ?? nameOf(raster, context.dataRoots), body: alone, at, facts: null }
    }),
  )
}

/** The rasters of a request. @throws as {@link entriesAtHand}, and what the guarded fetch throws */
export async function entriesOf(
  body: CreateGeoEmbeddings,
  context: EntryContext,
  remote: { readonly fetch: GuardedFetch; readonly signal: AbortSignal },
): Promise<Entry[]> {
  return (await entriesAtHand(body, context, remote))!
}

/** Fields that apply to the whole job, such as `strict`, which concerns the warnings of all files together. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  ...SOURCE_FIELDS.slice(3),
  'mode',
  'strict',
  'scale',
  'scaleFrom',
  'projectTarget',
])

/** The request of one raster, with its own fields. */
function single(body: CreateGeoEmbeddings, own: Partial<CreateGeoEmbeddings>): CreateGeoEmbeddings {
  const common = Object.entries(body).filter(([field]) => !OF_THE_WHOLE.has(field))
  return { ...(Object.fromEntries(common) as CreateGeoEmbeddings), ...own }
}

/** A profile in the request overrides that of an item. */
function stacEntries(body: CreateGeoEmbeddings, rasters: readonly StacRaster[]): Entry[] {
  return rasters.map(({ name, own, facts }) => {
    const { profile = own.profile } = body
    return { name, body: single(body, { ...own, ...(profile !== undefined && { profile }) }), at: '/stac', facts }
  })
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
    entries.push({ name: `${bucket}/${key}`, body: single(body, { storagePath }), at, facts: null })
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
