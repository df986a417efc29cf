import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExportTable } from '@terrane/contracts'
import { qualified, type Database } from '@terrane/database'
import { findClassifier } from '@terrane/database/classifiers'
import { scan, type PackedBytes, type ScanBatch } from '@terrane/database/scan'
import { emptyCodes, encodeClassCog } from '@terrane/tiling/raster'
import { isLastAttempt } from '../../queue/job-life.ts'
import { SCHEMA } from '../import-names.ts'
import { readRecord, type ClassSource } from '../labels/class-record.ts'
import type { JobContext } from '../task.ts'
import { classesOnly, classesOffGrid } from './errors.ts'
import { TileEdges } from './tile-edges.ts'
import { tileAxis, type TileAxis } from './tile-grid.ts'

/** Most pixels of a file, which lie in memory. */
const MAX_PIXELS = 2 ** 27
/** Most rows of a table; the edges of their tiles lie in memory. */
const MAX_ROWS = 2 ** 23
const TASKS = ['classifyEmbeddings', 'clusterEmbeddings'] as const

/** A table of classes, and the CRS of the rasters that its tiles are from. */
interface ClassTable {
  readonly table: string
  readonly source: ClassSource
  readonly crs: { readonly epsg: number; readonly isGeographic: boolean }
}

/** Codes of classes with the edges of their tiles. */
interface ClassTiles {
  readonly edges: TileEdges
  readonly codes: readonly number[]
  readonly names: readonly string[]
}

/** Finds the table of classes of a request. @throws FORMAT_TAKES_CLASSES, CLASSES_NOT_ON_A_GRID */
export async function findClassTable(database: Database, input: ExportTable): Promise<ClassTable> {
  const { table, schema = SCHEMA, columns } = input
  if (table === undefined || schema !== SCHEMA || columns !== undefined) throw classesOnly()
  const record = await readRecord(database, table, TASKS)
  if (record === null) throw classesOnly()
  const { source } = record
  const { rows } = await database.query<{ crs: string | null }>(
    `select distinct coalesce(s.crs, c.source_crs) as crs from geoembeddings.embeddings_catalogue c
     left join geoembeddings.embedding_sources s on s.table_name = c.table_name
       and s.source in (select distinct id >> 32 from ${qualified(SCHEMA, table)})
     where c.table_name = $1`,
    [source.embeddings],
  )
  const crs = rows.map((row) => row.crs ?? 'unknown')
  if (crs.length === 0) throw classesOffGrid({ table, why: `its embeddings table "${source.embeddings}" is not there` })
  if (crs.length > 1) throw classesOffGrid({ table, why: `its rasters have several CRSs: ${crs.join(', ')}` })
  const epsg = Number(/^EPSG:(\d+)$/.exec(crs[0]!)?.[1])
  const { rows: systems } = Number.isInteger(epsg)
    ? await database.query<{ proj: string }>('select proj4text as proj from spatial_ref_sys where srid = $1', [epsg])
    : { rows: [] }
  if (systems[0] === undefined) throw classesOffGrid({ table, why: `the CRS of its rasters has no EPSG code that the database knows: ${crs[0]!}` }) // prettier-ignore
  return { table, source, crs: { epsg, isGeographic: systems[0].proj.includes('+proj=longlat') } }
}

/**
 * Writes a table of classes as a cloud-optimized GeoTIFF, a pixel per tile, on the grid and in the CRS of the rasters.
 *
 * @throws FORMAT_TAKES_CLASSES, CLASSES_NOT_ON_A_GRID
 */
export async function writeClassRaster(
  input: ExportTable,
  context: JobContext,
): Promise<{ readonly path: string; readonly rows: number }> {
  const { signal, workdir } = context
  const found = await findClassTable(context.project.database, input)
  const { edges, codes, names } = await readTiles(found, context)
  const [across, down] = axesOf(found.table, edges)
  const raster = {
    width: across.cells,
    height: down.cells,
    codes: paint(found.table, [across, down], codes, names.length),
    classes: names,
    affine: [across.start, across.step, 0, down.start + down.cells * down.step, 0, -down.step] as const,
    crs: found.crs,
    tags: tagsOf(found.source),
  }
  const path = join(workdir, 'export.tif')
  await pipeline(Readable.from(await encodeClassCog(raster, signal)), createWriteStream(path), { signal })
  return { path, rows: codes.length }
}

function tagsOf({ embeddings, classifier, version }: ClassSource): Record<string, string> {
  return { EMBEDDINGS: embeddings, CLASSIFIER: classifier, CLASSIFIER_VERSION: String(version) }
}

async function readTiles(found: ClassTable, context: JobContext): Promise<ClassTiles> {
  const { table, crs } = found
  const edges = new TileEdges()
  const numbers = new Map<string, number>()
  const codes: number[] = []
  const columns = [
    { sql: `st_asbinary(st_transform(geom, ${crs.epsg}), 'NDR')`, type: 'bytes' as const },
    { sql: 'class', type: 'text' as const },
  ]
  const from = { table: qualified(SCHEMA, table), alias: 'source', where: '' }
  for await (const batch of scan(context.project.database, columns, from, { isWhole: isLastAttempt(context) })) {
    context.signal.throwIfAborted()
    addTiles(table, batch, edges)
    for (const name of batch.columns[1] as readonly (string | null)[]) {
      if (name !== null && !numbers.has(name)) numbers.set(name, numbers.size + 1)
      codes.push(name === null ? 0 : numbers.get(name)!)
    }
    if (codes.length > MAX_ROWS) throw classesOffGrid({ table, why: `it has more than ${MAX_ROWS} rows` })
    context.progress({ phase: 'export', done: codes.length, total: null, unit: 'features' })
  }
  if (codes.length === 0) throw classesOffGrid({ table, why: 'it has no rows' })
  const names = await namesOf(context.project.database, found.source, [...numbers.keys()])
  const codeOf = [0, ...[...numbers.keys()].map((name) => names.indexOf(name) + 1)]
  return { edges, codes: codes.map((number) => codeOf[number]!), names }
}

/** The classes in the order of their classifier; names that it does not have, e.g. since it was deleted, come behind. */
async function namesOf(
  database: Database,
  { classifier: name, version, classifierJob }: ClassSource,
  seen: readonly string[],
): Promise<string[]> {
  const classifier = await findClassifier(database, name, version)
  const own = classifier?.jobId === classifierJob ? classifier.classes : []
  return [...own, ...seen.filter((one) => !own.includes(one)).toSorted()]
}

function addTiles(table: string, { rows, columns }: ScanBatch, edges: TileEdges): void {
  const { bytes, ends } = columns[0] as PackedBytes
  for (let row = 0; row < rows; row++) {
    const start = row === 0 ? 0 : ends[row - 1]!
    if (!edges.add(bytes, start, ends[row]!))
      throw classesOffGrid({ table, why: 'a row is not a rectangle along the axes of the CRS of its raster' })
  }
}

function axesOf(table: string, edges: TileEdges): readonly [TileAxis, TileAxis] {
  const across = tileAxis(edges.lowX, edges.highX)
  const down = tileAxis(edges.lowY, edges.highY)
  if (across === null || down === null)
    throw classesOffGrid({ table, why: 'its tiles overlap, or lie on different grids' })
  const pixels = across.cells * down.cells
  if (pixels > MAX_PIXELS)
    throw classesOffGrid({ table, why: `the grid over all of its tiles has ${pixels} pixels, more than ${MAX_PIXELS}` })
  return [across, down]
}

/** A code per pixel, rows from the north. @throws CLASSES_NOT_ON_A_GRID where two tiles have one pixel */
function paint(
  table: string,
  [across, down]: readonly [TileAxis, TileAxis],
  codes: readonly number[],
  classes: number,
): Uint8Array | Uint16Array {
  const pixels = across.cells * down.cells
  const out = emptyCodes(pixels, classes)
  const taken = new Uint8Array(Math.ceil(pixels / 8))
  for (const [i, code] of codes.entries()) {
    const at = (down.cells - 1 - down.cellOf[i]!) * across.cells + across.cellOf[i]!
    const bit = 1 << (at & 7)
    if ((taken[at >> 3]! & bit) !== 0)
      throw classesOffGrid({ table, why: 'several rows are of one place, as those of several dates are' })
    taken[at >> 3]! |= bit
    out[at] = code
  }
  return out
}
