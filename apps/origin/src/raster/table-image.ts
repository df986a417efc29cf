import { unauthorized } from '@terrane/auth'
import { MAX_PARTS, type LngLatBox } from '@terrane/tiling/raster'
import type { FastifyRequest } from 'fastify'
import { runAs } from '../rest/execute.ts'
import { noSourcesChosen, sourceGone, sourceUnknown, tooManySources } from './errors.ts'
import type { FileOpener } from './open-file.ts'
import { checkFiles, foundImage, partOf } from './found-image.ts'
import { keptPart, type KeptScene, type OpenPart } from './scene.ts'
import type { SourceOrder } from './source-choice.ts'
import type { FoundRaster, RasterSources, SourceRequest } from './sources.ts'

/** Maximum sources of a table for which a document or preview states the extent. */
const MAX_SOURCES = 10_000
/** Parts of a mosaic that are opened concurrently. */
const AT_ONCE = 4

export interface TableRequest {
  readonly sources: RasterSources
  readonly request: FastifyRequest
  readonly opener: FileOpener
  readonly table: string
  /** Number of the requested source; undefined for all. */
  readonly number: string | undefined
  readonly asked: SourceRequest
}

interface TableSource {
  readonly source: number
  readonly name: string
  readonly bbox: readonly [number, number, number, number] | null
  readonly scene: KeptScene | null
  readonly profile: string | null
  /** Number of chosen sources in all areas. */
  readonly total: number
}

/**
 * The sources of a table as a mosaic, or its only source. The first source of a mosaic is always opened, because it
 * decides how all are displayed.
 *
 * @throws RASTER_NOT_FOUND, SOURCE_NOT_FOUND, NO_SOURCES_CHOSEN
 */
export async function imageOfTable(wanted: TableRequest): Promise<FoundRaster> {
  const { sources, opener, table, number, asked } = wanted
  if (!(await mayRead(wanted))) throw sourceUnknown({ url: asked.url })
  // One row more than the maximum shows that there are more sources in the area.
  const most = asked.area === null ? MAX_SOURCES + 1 : MAX_PARTS + 1
  const found = await sourcesOf(wanted, { most, hasFirst: true })
  if (found.length > MAX_SOURCES) throw tooManySources({ table, limit: MAX_SOURCES })
  if (found.length === 0) {
    if (number !== undefined) throw sourceUnknown({ url: asked.url })
    if (await hasSources(sources, table)) throw noSourcesChosen({ table })
    const origin = await originOf(sources, table)
    if (origin === null) throw sourceUnknown({ url: asked.url })
    return foundImage([await openPart({ name: origin, scene: null }, { opener, table, asked })])
  }
  const times = () => timesOf(wanted)
  if (found.length === 1 && found[0]!.total === 1)
    return { ...foundImage([await openPart(found[0]!, { opener, table, asked })]), times }
  const parts = await openParts(found.slice(0, MAX_PARTS + 1), { opener, table, asked })
  const placed = parts.map(({ part, ...rest }, i) => ({
    ...rest,
    part: { ...part, boxes: boxesOf(found, i, asked.area), profile: found[i]!.profile },
  }))
  return { ...foundImage(placed, asked.choice.selection), times }
}

/** Addresses of the sources of a table in the area of a request, in its order. @throws RASTER_NOT_FOUND */
export async function sourcesOfTable(wanted: TableRequest, most: number): Promise<string[]> {
  if (!(await mayRead(wanted))) throw sourceUnknown({ url: wanted.asked.url })
  const found = await sourcesOf(wanted, { most, hasFirst: false })
  return found.map(({ source }) => `embeddings://${wanted.table}/${source}`)
}

/** Times of the chosen sources, in microseconds, because `TIME` is compared exactly. */
async function timesOf(wanted: TableRequest): Promise<string[]> {
  const { rows } = await wanted.sources.database.query<{ time: string }>(
    `select to_char(d.datetime at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as time
     from (select distinct s.datetime from geoembeddings.embedding_sources s where ${CHOSEN} and s.datetime is not null
       order by 1 desc limit 1000) d order by d.datetime`,
    chosenOf(wanted),
  )
  return rows.map(({ time }) => time)
}

/** Condition of the chosen sources of a table, with the parameters of {@link chosenOf}. */
const CHOSEN = `s.table_name = $1 and s.status = 'done' and ($2::integer[] is null or s.source = any($2))
  and ($3::timestamptz is null or s.datetime >= $3) and ($4::timestamptz is null or s.datetime <= $4)`

function chosenOf({ table, number, asked: { choice } }: TableRequest): unknown[] {
  return [table, number === undefined ? choice.sources : [Number(number)], choice.since, choice.until]
}

/**
 * Boxes of a part. Without an area, the first part has the boxes of all parts, for the extent of the mosaic. Null when
 * the box is known only from the file; with more parts than can be opened it is the world, so that the source is not
 * skipped.
 */
function boxesOf(found: readonly TableSource[], i: number, area: LngLatBox | null): readonly LngLatBox[] | null {
  const { bbox } = found[i]!
  if (bbox === null) return found.length > MAX_PARTS ? [[-180, -90, 180, 90]] : null
  return area === null && i === 0 ? found.flatMap((source) => (source.bbox ? [source.bbox] : [])) : [bbox]
}

async function openParts(chosen: readonly TableSource[], context: PartContext): Promise<OpenPart[]> {
  const parts: OpenPart[] = []
  for (let i = 0; i < chosen.length; i += AT_ONCE) {
    parts.push(...(await Promise.all(chosen.slice(i, i + AT_ONCE).map((source) => openPart(source, context)))))
    checkFiles(parts)
  }
  return parts
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

/** Read without the caller's role: names of sources are not visible to callers, but their pictures may be. */
async function sourcesOf(
  wanted: TableRequest,
  { most, hasFirst }: { readonly most: number; readonly hasFirst: boolean },
): Promise<TableSource[]> {
  const { choice, area } = wanted.asked
  const { rows } = await wanted.sources.database.query<TableSource>(
    `with chosen as (
       select s.*, count(*) over () as total, ${choice.isReversed ? 'count(*) over () + 1 - ' : ''}row_number() over (order by ${ORDER[choice.order]}, s.source) as place
       from geoembeddings.embedding_sources s
       where ${CHOSEN})
     select c.source, c.name, c.bbox, c.profile, c.total::integer as total,
       case when jsonb_typeof(c.properties->'files') = 'array' and (c.place <= ${MAX_PARTS + 1} or $5::double precision[] is not null)
         then jsonb_build_object('files', c.properties->'files', 'mask', c.properties->'mask') end as scene
     from chosen c
     where (c.place = 1 and $7) or c.bbox is null or $5 is null or (c.bbox[2] <= $5[4] and c.bbox[4] >= $5[2]
       and exists (select from unnest(array[-360, 0, 360]) turn
         where $5[1] + turn <= c.bbox[3] + case when c.bbox[3] < c.bbox[1] then 360 else 0 end and $5[3] + turn >= c.bbox[1]))
     order by c.place limit $6`,
    [...chosenOf(wanted), area, most, hasFirst],
  )
  return rows
}

async function hasSources({ database }: RasterSources, table: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `select from geoembeddings.embedding_sources s where s.table_name = $1 and s.status = 'done' limit 1`,
    [table],
  )
  return rowCount === 1
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
async function openPart(
  { name, scene }: Pick<TableSource, 'name' | 'scene'>,
  { opener, table, asked }: PartContext,
): Promise<OpenPart> {
  // A source that is a VRT is stored with the names of its files only, so its bands are read from the VRT.
  if (scene !== null && scene.files.every((file) => 'band' in file)) return keptPart(scene, opener)
  const file = await opener.openNamed(name)
  if (file === null) throw sourceGone({ table })
  return partOf(file, { ...asked.choice, assets: null }, opener)
}
