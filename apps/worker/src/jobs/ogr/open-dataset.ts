import { createReadStream } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { JobWarning, Ogr2ogrImport } from '@terrane/contracts'
import { TerraneError } from '@terrane/core/errors'
import { Warnings } from '@terrane/core/errors'
import { ALL_LAYERS, sridOf } from './choose-layers.ts'
import type { Conversion, Engine, Layer } from './engine.ts'
import { conversionFailed } from './errors.ts'
import type { LayerSchema, LayerSource } from './feature-stream.ts'
import { schemaTypes, surveySystem } from './gml-facts.ts'
import { plainTables, typesOf, type PlainTable } from './geodatabase/plain-tables.ts'
import { logicalFields } from './logical-fields.ts'
import { Joined, type LayerPlace } from './joined-layers.ts'
import type { Dataset } from './obtain/find-datasets.ts'
import { readWithoutLog } from './obtain/write-ahead.ts'
import type { ReadFormat, ReadRequest } from './read/protocol.ts'
import { READ_FORMATS } from './read/protocol.ts'
import { Reading, type ReadingPlace } from './read/reading.ts'
import { spellOutTimes } from './workbook-times.ts'

export const DEFAULT_SRS = 'EPSG:4326'

/** In what way the engine writes features down on their way here: as they are, with nothing to search them by. */
const EXCHANGE_OPTIONS = [
  '-f',
  'GPKG',
  '-lco',
  'SPATIAL_INDEX=NO',
  '-lco',
  'FID=__fid__',
  '-lco',
  'GEOMETRY_NAME=__geometry__',
  // What a schema demands is not always there.
  '-forceNullable',
]

/** Formats of sheets, which may hold coordinates in their columns. */
const WORKBOOKS: ReadonlySet<string> = new Set(['XLSX', 'ODS'])

/** Formats of tables, which may hold coordinates in their columns. */
const OF_COLUMNS: ReadonlySet<string> = new Set([...WORKBOOKS, 'CSV', 'Parquet', 'Arrow'])

/** Formats whose reference systems may be ones that only the engine knows. */
const KNOWN_BY_ENGINE: ReadonlySet<ReadFormat> = new Set(['GPKG', 'FlatGeobuf', 'ESRI Shapefile'])

/** Formats whose texts the engine reads in an encoding that it is told. */
const ENCODED_BY_ENGINE: ReadonlySet<string> = new Set(['ESRI Shapefile', 'MapInfo File'])

/** A data set that can be read, and what became of it before. */
export interface OpenedDataset extends AsyncDisposable {
  readonly reading: LayerSource
  /** What to know of the file as a whole. */
  readonly notes: readonly JobWarning[]
  /** All layers of the file, whether they were asked for or not. */
  readonly layerNames: readonly string[]
  /** How many features of a layer the engine could not convert; they are counted as a warning. */
  lostOf(layer: number, limit: number, warnings: Warnings): number
}

/**
 * Opens a data set with a reader of its format, or has the engine convert it first: what no reader here knows, Shapefiles
 * that are not plain, and files of reference systems that only the engine knows.
 */
export async function openDataset(
  dataset: Dataset,
  engine: Engine,
  input: Ogr2ogrImport,
  context: ReadingPlace,
): Promise<OpenedDataset> {
  const { workdir, signal } = context
  const path = join(dataset.folder, dataset.file)
  const notes = new Warnings()
  warnOfUnused(dataset, input, notes)
  if (dataset.driver === 'GPKG' && (await readWithoutLog(path))) {
    const message =
      'The GeoPackage was copied while a program had it open: changes that were still in its log, a file that ends in -wal, are not in it. Close the program and copy it again to be sure.'
    notes.add('LOG_MISSING', message)
  }
  // Several Shapefiles are one data set, which the engine opens as a whole.
  const format = dataset.file === '.' ? undefined : READ_FORMATS.find((known) => known === dataset.driver)
  if (format) {
    const reading = await open(path, format, withTypesOf(dataset, input), context)
    const isReadable = format !== 'ESRI Shapefile' || reading.layers.length > 0
    const isPlaced = !KNOWN_BY_ENGINE.has(format) || input.sourceSrs !== undefined || !hasUnknownSystem(reading.layers)
    if (isReadable && isPlaced) {
      const layerNames = reading.layers.map(({ name }) => name)
      return {
        reading,
        notes: notes.list(),
        layerNames,
        lostOf: () => 0,
        [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
      }
    }
    await reading[Symbol.asyncDispose]()
  }
  const folder = await mkdtemp(join(workdir, 'exchange-'))
  if (dataset.driver === 'XLSX') await spellOutTimes(path)
  if (dataset.driver === 'DXF') await warnOfSplines(path, notes)
  // Of GML the engine sees no schema, and is told to leave its texts as they are.
  const geodatabase = dataset.driver === 'OpenFileGDB' ? await plainTables(path, signal) : []
  const known = { ...(await logicalFields(dataset)), ...typesOf(geodatabase) }
  const isGml = dataset.driver === 'GML'
  const system = isGml && input.sourceSrs === undefined ? await surveySystem(path) : null
  const conversion = conversionOf(dataset, input, folder, system)
  const { target, layers: converted } = await convert(engine, conversion, workdir, signal)
  let layers = converted
  const declared = await declaredTypes(dataset, notes)
  const types = declared ? Object.fromEntries(layers.map(({ name }) => [name, declared])) : known
  const exchange = { types, isUntyped: isGml, isWorkbook: WORKBOOKS.has(dataset.driver) }
  checkRead(geodatabase, layers, input.layer, notes)
  await using opening = new AsyncDisposableStack()
  const first = opening.use(await open(target, 'GPKG', input, context, exchange))
  let reading: LayerSource = first
  if (input.sourceSrs === undefined && hasUnknownSystem(first.layers)) {
    // The database knows systems by their codes only: one without is for the engine to leave.
    const moved = await transformed(engine, conversion, input, context)
    if (moved) {
      const other = opening.use(await open(moved.target, 'GPKG', input, context, exchange))
      // What was said of the file as a whole holds for both.
      const said = new Set(first.warnings.map(({ code }) => code))
      other.warnings = other.warnings.filter(({ code }) => !said.has(code))
      reading = overlaid(first, other, notes)
      layers = moved.layers
    }
  }
  const own = reading
  const opened = opening.move()
  return {
    reading: own,
    notes: notes.list(),
    layerNames: layers.map(({ name }) => name),
    lostOf: (index, limit, warnings) => {
      const { name, rows } = own.layers[index]!
      const features = layers.find((layer) => layer.name === name)?.features ?? rows
      const lost = Math.max(0, Math.min(features, limit) - rows)
      const message =
        'Features could not be converted: most often their coordinates have no place in the target system, or their geometry refers to parts that lie elsewhere.'
      if (lost > 0) warnings.add('FEATURES_NOT_CONVERTED', message, lost)
      return lost
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The layers in the system of the table; null where the engine cannot bring them there. */
async function transformed(
  engine: Engine,
  conversion: Conversion,
  { targetSrs = DEFAULT_SRS }: Ogr2ogrImport,
  { workdir, signal }: ReadingPlace,
) {
  const target = join(dirname(conversion.target), 'transformed.gpkg')
  const options = [...conversion.options, '-t_srs', targetSrs]
  try {
    return await convert(engine, { ...conversion, target, options }, workdir, signal)
  } catch (error) {
    const code = error instanceof TerraneError ? error.code : null
    if (code === 'CONVERSION_FAILED' || code === 'SOURCE_SRS_NEEDED') return null
    throw error
  }
}

/** Layers as they were, but for those that the engine could bring into another system. */
function overlaid(before: LayerSource, after: LayerSource, notes: Warnings): LayerSource {
  const places = before.layers.map(({ name, srid }, layer): LayerPlace => {
    const moved = srid === null ? after.layers.findIndex((other) => other.name === name && other.rows > 0) : -1
    return moved < 0 ? { set: 0, layer } : { set: 1, layer: moved }
  })
  const names = before.layers.filter((_, i) => places[i]!.set === 1).map(({ name }) => name)
  const message =
    'Reference systems of layers have no EPSG code: positions may be off by up to some hundred metres where their datum is not that of the target. Send sourceSrs with a file that does not name its system to be exact.'
  if (names.length > 0) notes.add('SYSTEM_WITHOUT_CODE', message, names.length, names)
  const layers = places.map(({ set, layer }) => (set === 0 ? before : after).layers[layer]!)
  return new Joined([before, after], places, layers)
}

/** Names what was asked for and says nothing about a file of this format. */
function warnOfUnused({ driver }: Dataset, { csv, encoding }: Ogr2ogrImport, notes: Warnings): void {
  const unused: string[] = []
  if (csv?.wkt !== undefined && driver !== 'CSV') unused.push('csv.wkt')
  if ((csv?.x ?? csv?.y) !== undefined && !OF_COLUMNS.has(driver)) unused.push('csv.x', 'csv.y')
  if (encoding !== undefined && driver !== 'CSV' && !ENCODED_BY_ENGINE.has(driver)) unused.push('encoding')
  if (unused.length === 0) return
  notes.add('OPTIONS_UNUSED', `A ${driver} file says itself what these fields are for.`, unused.length, unused)
}

/** Types by the schema beside a GML; null where there is none, or where it cannot be read, which is a warning. */
async function declaredTypes({ schema }: Dataset, notes: Warnings) {
  const types = schema === undefined ? null : await schemaTypes(schema)
  if (schema !== undefined && types === null) {
    const message = 'The schema beside the GML cannot be read: types of columns come from their values.'
    notes.add('SCHEMA_UNREADABLE', message, 1, [basename(schema)])
  }
  return types
}

function hasUnknownSystem(layers: readonly LayerSchema[]): boolean {
  return layers.some(({ srid, geometryTypes }) => srid === null && geometryTypes.length > 0)
}

/** The request with the types of the data set's kind, which those of the request come before. */
function withTypesOf({ types }: Dataset, input: Ogr2ogrImport): Ogr2ogrImport {
  return types === undefined ? input : { ...input, types: { ...types, ...input.types } }
}

function open(
  path: string,
  format: ReadFormat,
  input: Ogr2ogrImport,
  place: ReadingPlace,
  exchange: Pick<ReadRequest, 'types' | 'isUntyped' | 'isWorkbook'> = {},
) {
  const { encoding, csv, sourceSrs, types: columnTypes } = input
  const srid = sourceSrs === undefined ? {} : { srid: sridOf(sourceSrs) }
  const asked = { ...(encoding && { encoding }), ...(csv && { csv }), ...(columnTypes && { columnTypes }) }
  return Reading.open({ path, format, ...srid, ...exchange, ...asked }, place)
}

/** @param system EPSG code of a system that the engine does not know by its name */
function conversionOf(dataset: Dataset, input: Ogr2ogrImport, folder: string, system: number | null): Conversion {
  const { layer, limit, encoding } = input
  return {
    ...dataset,
    openOptions: encoding && ENCODED_BY_ENGINE.has(dataset.driver) ? [`ENCODING=${encoding}`] : [],
    layer: layer === undefined || layer === ALL_LAYERS ? null : layer,
    options: [
      ...EXCHANGE_OPTIONS,
      // TopoJSON has no word for its reference system, and means that of GeoJSON.
      ...(dataset.driver === 'TopoJSON' && input.sourceSrs === undefined ? ['-a_srs', DEFAULT_SRS] : []),
      ...(system === null ? [] : ['-a_srs', `EPSG:${system}`]),
      ...(limit ? ['-limit', String(limit)] : []),
    ],
    target: join(folder, 'exchange.gpkg'),
  }
}

/**
 * A table that the engine cannot read has no features to it.
 *
 * @throws CONVERSION_FAILED where nothing else is asked for
 */
function checkRead(
  tables: readonly PlainTable[],
  layers: readonly Layer[],
  wanted: string | undefined,
  notes: Warnings,
): void {
  const filled = new Set(tables.filter(({ rows }) => rows !== 0).map(({ name }) => name))
  const unread = layers.filter(({ name, features }) => features === 0 && filled.has(name)).map(({ name }) => name)
  if (unread.length === 0) return
  const isAll = layers.every(({ name, features }) => features === 0 || unread.includes(name))
  if (isAll || (wanted !== undefined && unread.includes(wanted))) {
    const names = unread.slice(0, 10).join(', ')
    const reason = `the rows of ${names} are damaged or of a kind that the engine does not know; export them as GeoPackage`
    throw conversionFailed({ reason })
  }
  const message = 'Layers whose rows are damaged, or of a kind that the engine does not know, were left out.'
  notes.add('LAYERS_UNREADABLE', message, unread.length, unread)
}

/** The engine reads the control points of splines, but not all of their heights. */
async function warnOfSplines(path: string, warnings: Warnings): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    if (line.trim() !== 'SPLINE') continue
    warnings.add('SPLINES_FLAT', 'Splines of the drawing became lines, which may lack the heights that it has.')
    return
  }
}

/** One bad feature, or a layer without a system, ends a conversion: then it is done again, and those are passed over and counted. */
async function convert(
  engine: Engine,
  conversion: Conversion,
  workdir: string,
  signal: AbortSignal,
): Promise<{ readonly layers: readonly Layer[]; readonly target: string }> {
  const { target, options } = conversion
  try {
    return { layers: await engine.convert(conversion, workdir, signal), target }
  } catch (error) {
    const code = error instanceof TerraneError ? error.code : null
    if (code !== 'CONVERSION_FAILED' && code !== 'SOURCE_SRS_NEEDED') throw error
    const again = { ...conversion, target: `${target.slice(0, -5)}-2.gpkg`, options: [...options, '-skipfailures'] }
    return { layers: await engine.convert(again, workdir, signal), target: again.target }
  }
}
