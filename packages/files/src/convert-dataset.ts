import { createReadStream } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { TerraneError, type Warnings } from '@terrane/core/errors'
import type { Conversion, Engine, Layer } from './engine.ts'
import { conversionFailed } from './errors.ts'
import type { LayerSource } from './feature-stream.ts'
import { plainTables, typesOf, type PlainTable } from './geodatabase/plain-tables.ts'
import { schemaTypes, surveySystem } from './gml-facts.ts'
import { Joined, type LayerPlace } from './joined-layers.ts'
import { logicalFields } from './logical-fields.ts'
import { ENCODED_BY_ENGINE, WORKBOOKS, hasUnknownSystem, openReading, type OpenedDataset } from './open-reading.ts'
import { ALL_LAYERS, type ReadOptions } from './read-options.ts'
import { MISSING_NUMBERS, warnOfNaN } from './lost-nan.ts'
import type { ReadingPlace } from './read/reading.ts'
import type { Dataset } from './unpack/find-datasets.ts'
import { spellOutTimes } from './workbook-times.ts'

const DEFAULT_SRS = 'EPSG:4326'

/** Format of the features from the engine: unchanged, without indexes. */
const EXCHANGE_OPTIONS = [
  '-f',
  'GPKG',
  '-lco',
  'SPATIAL_INDEX=NO',
  '-lco',
  'FID=__fid__',
  '-lco',
  'GEOMETRY_NAME=__geometry__',
  // Fields that a schema requires may still be missing.
  '-forceNullable',
]

/** Data set, engine and options of a conversion. */
export interface ConversionWork {
  readonly dataset: Dataset
  readonly engine: Engine
  readonly options: ReadOptions
  readonly place: ReadingPlace
  readonly notes: Warnings
}

/** The GeoPackage that the engine wrote, and the layers of the data set. */
interface Converted {
  readonly layers: readonly Layer[]
  readonly target: string
}

/** Has the engine convert a data set into a GeoPackage, and opens that. */
export async function convertDataset(work: ConversionWork): Promise<OpenedDataset> {
  const { dataset, engine, options, place, notes } = work
  const { workdir, signal } = place
  const path = join(dataset.folder, dataset.file)
  const folder = await mkdtemp(join(workdir, 'exchange-'))
  if (dataset.driver === 'XLSX') await spellOutTimes(path)
  if (dataset.driver === 'DXF') await warnOfSplines(path, notes)
  // The engine gets no GML schema and leaves its values as texts.
  const geodatabase = dataset.driver === 'OpenFileGDB' ? await plainTables(path, signal) : []
  const known = { ...(await logicalFields(dataset)), ...typesOf(geodatabase) }
  const isGml = dataset.driver === 'GML'
  const system = isGml && options.sourceSrs === undefined ? await surveySystem(path) : null
  const conversion = conversionOf(dataset, options, folder, system)
  const converted = await convert(engine, conversion, place)
  const { layers } = converted
  const declared = await declaredTypes(dataset, notes)
  const types = declared ? Object.fromEntries(layers.map(({ name }) => [name, declared])) : known
  const missing = MISSING_NUMBERS[dataset.driver]
  const exchange = { types, isUntyped: isGml, isWorkbook: WORKBOOKS.has(dataset.driver), ...(missing && { missing }) }
  checkRead(geodatabase, layers, options.layer, notes)
  const open = (file: string) => openReading({ path: file, format: 'GPKG' }, options, place, exchange)
  const reading = await open(converted.target)
  try {
    await warnOfNaN({ engine, conversion, place }, reading.layers, notes)
    // Databases know reference systems by code only; a system without a code is transformed by the engine.
    const isMoved = options.sourceSrs === undefined && hasUnknownSystem(reading.layers)
    const moved = isMoved ? await transformed(work, conversion) : null
    if (moved === null) return openedOf(reading, layers, notes)
    const other = await open(moved.target)
    // Warnings about the whole file apply to both readings, so they are reported once.
    const said = new Set(reading.warnings.map(({ code }) => code))
    other.warnings = other.warnings.filter(({ code }) => !said.has(code))
    return openedOf(overlaid(reading, other, notes), moved.layers, notes)
  } catch (error) {
    await reading[Symbol.asyncDispose]()
    throw error
  }
}

function openedOf(reading: LayerSource, layers: readonly Layer[], notes: Warnings): OpenedDataset {
  return {
    reading,
    notes: notes.list(),
    layerNames: layers.map(({ name }) => name),
    lostOf: (index, limit, warnings) => {
      const { name, rows } = reading.layers[index]!
      const features = layers.find((layer) => layer.name === name)?.features ?? rows
      const lost = Math.max(0, Math.min(features, limit) - rows)
      const message =
        'Features could not be converted: most often their coordinates have no place in the target system, or their geometry refers to parts that lie elsewhere.'
      if (lost > 0) warnings.add('FEATURES_NOT_CONVERTED', message, lost)
      return lost
    },
    [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
  }
}

/** The layers in the target system; null when the engine cannot transform them. */
async function transformed({ engine, options: asked, place }: ConversionWork, conversion: Conversion) {
  const target = join(dirname(conversion.target), 'transformed.gpkg')
  const options = [...conversion.options, '-t_srs', asked.targetSrs ?? DEFAULT_SRS]
  try {
    return await convert(engine, { ...conversion, target, options }, place)
  } catch (error) {
    const code = error instanceof TerraneError ? error.code : null
    if (code === 'CONVERSION_FAILED' || code === 'SOURCE_SRS_NEEDED') return null
    throw error
  }
}

/** The layers of `before`; layers without an EPSG code are replaced by their transformed ones in `after`. */
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

/** Types in the schema beside a GML; null without one. An unreadable schema is a warning and gives null, too. */
async function declaredTypes({ schema }: Dataset, notes: Warnings) {
  const types = schema === undefined ? null : await schemaTypes(schema)
  if (schema !== undefined && types === null) {
    const message = 'The schema beside the GML cannot be read: types of columns come from their values.'
    notes.add('SCHEMA_UNREADABLE', message, 1, [basename(schema)])
  }
  return types
}

/** @param system EPSG code of a system that the engine does not know by its name */
function conversionOf(dataset: Dataset, options: ReadOptions, folder: string, system: number | null): Conversion {
  const { layer, limit, encoding } = options
  return {
    ...dataset,
    openOptions: encoding && ENCODED_BY_ENGINE.has(dataset.driver) ? [`ENCODING=${encoding}`] : [],
    layer: layer === undefined || layer === ALL_LAYERS ? null : layer,
    options: [
      ...EXCHANGE_OPTIONS,
      // TopoJSON does not state its reference system; it is that of GeoJSON.
      ...(dataset.driver === 'TopoJSON' && options.sourceSrs === undefined ? ['-a_srs', DEFAULT_SRS] : []),
      ...(system === null ? [] : ['-a_srs', `EPSG:${system}`]),
      ...(limit ? ['-limit', String(limit)] : []),
    ],
    target: join(folder, 'exchange.gpkg'),
  }
}

/**
 * The engine reports a table that it cannot read as empty.
 *
 * @throws CONVERSION_FAILED when only such tables are requested
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

/**
 * Converts a data set. If bad features or layers without a system end the conversion, it is repeated without these and
 * they are counted.
 */
async function convert(engine: Engine, conversion: Conversion, { workdir, signal }: ReadingPlace): Promise<Converted> {
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
