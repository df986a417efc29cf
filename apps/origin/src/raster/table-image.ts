import { unauthorized } from '@terrane/auth'
import { MAX_PARTS, type LngLatBox } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { runAs } from '../rest/execute.ts'
import { noSourcesChosen, sourceGone, sourceUnknown } from './errors.ts'
import type { FileOpener } from './open-file.ts'
import { foundImage, partOf } from './found-image.ts'
import { keptPart, type KeptScene, type OpenPart } from './scene.ts'
import type { SourceOrder } from './source-choice.ts'
import type { FoundRaster, RasterSources, SourceRequest } from './sources.ts'

/** Sources of a table that one request may choose from. */
const MAX_SOURCES = 10_000

interface TableRequest {
  readonly sources: RasterSources
  readonly request: FastifyRequest
  readonly opener: FileOpener
  readonly table: string
  /** Of a source; undefined for all. */
  readonly number: string | undefined
  readonly asked: SourceRequest
}

interface TableSource {
  readonly name: string
  readonly bbox: readonly [number, number, number, number] | null
  readonly scene: KeptScene | null
}

/**
 * The sources of a table as a mosaic, or its only one. Of a mosaic the first in order is always a part: it decides how all are shown.
 *
 * @throws RASTER_NOT_FOUND, SOURCE_NOT_FOUND, NO_SOURCES_CHOSEN
 */
export async function imageOfTable(wanted: TableRequest): Promise<FoundRaster> {
  const { sources, opener, table, number, asked } = wanted
  if (!(await mayRead(wanted))) throw sourceUnknown({ url: asked.url })
  const { all, found } = await sourcesOf(wanted)
  if (found.length === 0) {
    if (number !== undefined) throw sourceUnknown({ url: asked.url })
    if (all > 0) throw noSourcesChosen({ table })
    const origin = await originOf(sources, table)
    if (origin === null) throw sourceUnknown({ url: asked.url })
    return foundImage([await openPart({ name: origin, bbox: null, scene: null }, { opener, table, asked })])
  }
  if (found.length === 1) return foundImage([await openPart(found[0]!, { opener, table, asked })])
  const { area, choice } = asked
  const [first, ...others] = found
  const near = others.filter(({ bbox }) => area === null || bbox === null || meets(bbox, area))
  // One more than may be read tells that there are more.
  const chosen = [first!, ...near.slice(0, MAX_PARTS)]
  const parts = await Promise.all(chosen.map((source) => openPart(source, { opener, table, asked })))
  // Without an area all places count: how far the whole reaches.
  const boxesOf = (i: number): LngLatBox[] => (area === null && i === 0 ? found.map(boxOf) : [boxOf(chosen[i]!)])
  const boxed = parts.map(({ part, ...rest }, i) => ({ ...rest, part: { ...part, boxes: boxesOf(i) } }))
  return foundImage(boxed, choice.selection)
}

async function mayRead({ sources: { storage, database }, request, table }: TableRequest): Promise<boolean> {
  const principal = await storage.identify(request)
  if (!principal) throw unauthorized({ reason: 'missing' })
  const as = { principal, schema: 'geoembeddings', readOnly: true, rollback: false, timeoutMs: 10_000 }
  return runAs(database, as, async (session) => {
    const found = await session.query('select from geoembeddings.embeddings_catalogue where table_name = $1', [table])
    return found.rowCount === 1
  })
}

const ORDER: Readonly<Record<SourceOrder, string>> = {
  newest: 's.datetime desc nulls last',
  oldest: 's.datetime nulls last',
  cloud: `case jsonb_typeof(s.properties->'eo:cloud_cover') when 'number' then (s.properties->>'eo:cloud_cover')::double precision end
    nulls last, s.datetime desc nulls last`,
  number: 's.source',
}

/** Names of sources are not the caller's to read, their pictures may be. */
async function sourcesOf({ sources: { database }, table, number, asked }: TableRequest): Promise<{
  readonly all: number
  readonly found: readonly TableSource[]
}> {
  const { choice } = asked
  const only = number === undefined ? choice.sources : [Number(number)]
  const { rows } = await database.query<TableSource & { chosen: boolean }>(
    `select s.name, s.bbox,
       case jsonb_typeof(s.properties->'files') when 'array' then jsonb_build_object('files', s.properties->'files',
         'mask', s.properties->'mask') end as scene,
       ($2::integer[] is null or s.source = any($2)) and ($3::timestamptz is null or s.datetime >= $3)
         and ($4::timestamptz is null or s.datetime <= $4) as chosen
     from geoembeddings.embedding_sources s
     where s.table_name = $1 and s.status = 'done' order by ${ORDER[choice.order]}, s.source limit ${MAX_SOURCES}`,
    [table, only, choice.since, choice.until],
  )
  return { all: rows.length, found: rows.filter(({ chosen }) => chosen) }
}

async function originOf({ database }: RasterSources, table: string): Promise<string | null> {
  const { rows } = await database.query<{ source: string }>(
    'select o.source from geoembeddings.embedding_origins o where o.table_name = $1',
    [table],
  )
  return rows[0]?.source ?? null
}

interface PartContext {
  readonly opener: FileOpener
  readonly table: string
  readonly asked: SourceRequest
}

/** @throws SOURCE_NOT_FOUND */
async function openPart({ name, scene }: TableSource, { opener, table, asked }: PartContext): Promise<OpenPart> {
  // A VRT keeps the names of its files alone; the bands are read of it.
  if (scene !== null && scene.files.every((file) => 'band' in file)) return keptPart(scene, opener)
  const file = await opener.openNamed(name)
  if (file === null) throw sourceGone({ table })
  return partOf(file, { ...asked.choice, assets: null }, opener)
}

const WORLD: LngLatBox = [-180, -90, 180, 90]

function boxOf({ bbox }: TableSource): LngLatBox {
  return bbox ?? WORLD
}

function meets(a: LngLatBox, b: LngLatBox): boolean {
  const east = b[2] < b[0] ? b[2] + 360 : b[2]
  return a[1] <= b[3] && a[3] >= b[1] && [-360, 0, 360].some((turn) => a[0] + turn <= east && a[2] + turn >= b[0])
}
