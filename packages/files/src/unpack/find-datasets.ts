import { mkdir, readFile, readdir, rename } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { TerraneError } from '@terrane/core/errors'
import { formatUnknown } from '../errors.ts'
import type { Warnings } from '@terrane/core/errors'
import { kmzDocuments } from './kmz-documents.ts'
import { TIMETABLE_TYPES, isTimetable } from './timetable.ts'
import { asUtf8 } from './utf16.ts'
import { driverOf, EXTENSIONS, sniffFile, type Driver } from './sniff.ts'

/** Most data sets of one archive. */
const MOST_DATASETS = 200
/** Endings of the files that make up one data set of several files. */
const PARTS_OF_SHAPEFILE = ['shp', 'shx', 'dbf', 'prj', 'cpg', 'qix', 'sbn', 'sbx', 'qpj']
const PARTS_OF_MAPINFO = ['tab', 'dat', 'dbf', 'map', 'id', 'ind', 'mif', 'mid']
/** Extensions of files that describe a data set but hold no data. */
const SIDE_FILES = new Set([
  'prj',
  'cpg',
  'shx',
  'qix',
  'sbn',
  'sbx',
  'qpj',
  'xsd',
  'gfs',
  'txt',
  'md',
  'pdf',
  'html',
  'xml',
  'atx',
])

/** A data set in a folder of its own. */
export interface Dataset {
  readonly folder: string
  /** Name within the folder; '.' for the folder itself. */
  readonly file: string
  readonly driver: Driver
  /** Name of its file, without the ending. */
  readonly stem: string
  /** Path of a schema with the types of its elements. */
  readonly schema?: string
  /** Types of columns by the kind of its files. */
  readonly types?: Readonly<Record<string, 'text'>>
}

/** Contents of an archive. */
export interface FoundDatasets {
  readonly datasets: readonly Dataset[]
  /** Files that are neither data nor known parts of a data set. */
  readonly skipped: readonly string[]
}

/**
 * The data sets among unpacked files.
 *
 * @throws FORMAT_UNKNOWN when there is none
 */
export async function findDatasets(folder: string, signal: AbortSignal): Promise<FoundDatasets> {
  const names = (await readdir(folder)).toSorted()
  const geodatabases = names.filter((name) => name.endsWith('.gdb'))
  const datasets: Dataset[] = geodatabases.map((file) => ({ folder, file, driver: 'OpenFileGDB', stem: stemOf(file) }))
  const files = names.filter((name) => !geodatabases.includes(name))
  const { bundles, rest } = await gatherBundles(folder, files)
  datasets.push(...bundles)
  const isFeed = isTimetable(rest)
  const data = dataAmong(rest, isFeed || datasets.length === 0)
  const { chosen, unlinked } = await kmzDocuments(folder, data)
  const skipped = [...unlinked]
  let refusal: TerraneError | null = null
  for (const name of chosen) {
    try {
      const dataset = withSchema(await single(folder, name, signal), rest)
      datasets.push(isFeed && dataset.driver === 'CSV' ? { ...dataset, types: TIMETABLE_TYPES } : dataset)
    } catch (error) {
      if (!(error instanceof TerraneError) || error.code !== 'FORMAT_UNKNOWN') throw error
      refusal ??= error
      skipped.push(name)
    }
  }
  if (datasets.length === 0) throw refusal ?? formatUnknown({ reason: 'the archive holds no data' })
  if (datasets.length > MOST_DATASETS) {
    throw formatUnknown({ reason: `the archive holds ${datasets.length} data sets, more than ${MOST_DATASETS}` })
  }
  return { datasets, skipped }
}

/** Adds the schema of a GML: the file of the same name, or the only one. */
function withSchema(dataset: Dataset, names: readonly string[]): Dataset {
  const schemas = names.filter((name) => endingOf(name) === 'xsd')
  const own = schemas.find((name) => stemOf(name) === dataset.stem) ?? (schemas.length === 1 ? schemas[0] : undefined)
  if (dataset.driver !== 'GML' || own === undefined) return dataset
  return { ...dataset, schema: join(dirname(dataset.folder), own) }
}

/** Files that may be data; text files count only without other files, or as tables of a timetable. */
function dataAmong(names: readonly string[], takesTexts: boolean): readonly string[] {
  const data = names.filter((name) => !SIDE_FILES.has(endingOf(name)))
  const texts = names.filter((name) => endingOf(name) === 'txt')
  return takesTexts && (data.length === 0 || isTimetable(names)) ? [...data, ...texts].toSorted() : data
}

/** Warns of the files of an archive that were left out. */
export function warnOfSkipped(skipped: readonly string[], warnings: Warnings): void {
  const message =
    'Files of the archive with an unknown format, or documents without a link from the main one, were left out.'
  if (skipped.length > 0) warnings.add('FILES_SKIPPED', message, skipped.length, skipped)
}

async function single(folder: string, name: string, signal: AbortSignal): Promise<Dataset> {
  await asUtf8(join(folder, name), signal)
  const content = await sniffFile(join(folder, name))
  if (content === 'zip' || content === 'gzip' || content === 'tar') {
    throw formatUnknown({ reason: `the archive holds another one, ${name}` })
  }
  // Each in a folder of its own, so that the engine sees no other files.
  const own = join(folder, `${name}.d`)
  await mkdir(own)
  const file = `data.${EXTENSIONS[content]}`
  await rename(join(folder, name), join(own, file))
  return { folder: own, file, driver: driverOf(content), stem: stemOf(name) }
}

/** Shapefiles and MapInfo tables: all of a kind make one data set, each file a layer of it. */
async function gatherBundles(folder: string, names: readonly string[]) {
  const bundles: Dataset[] = []
  let rest = names
  const kinds = [
    { driver: 'ESRI Shapefile', heads: ['shp'], parts: PARTS_OF_SHAPEFILE },
    { driver: 'MapInfo File', heads: ['tab', 'mif'], parts: PARTS_OF_MAPINFO },
  ] as const
  for (const { driver, heads, parts } of kinds) {
    const found = rest.filter((name) => heads.some((head) => head === endingOf(name)))
    if (found.length === 0) continue
    if (driver === 'ESRI Shapefile') checkShapefiles(found, rest)
    else for (const name of found) await refuseSeamless(join(folder, name))
    const own = join(folder, `${heads[0]}.d`)
    await mkdir(own)
    const stems = new Set(found.map(stemOf))
    // A dBASE table without shapes is a data set of its own.
    const isOwn = (name: string) => driver === 'ESRI Shapefile' && endingOf(name) === 'dbf' && !stems.has(stemOf(name))
    const belongs = new Set(
      rest.filter((name) => (parts as readonly string[]).includes(endingOf(name)) && !isOwn(name)),
    )
    for (const name of belongs) await rename(join(folder, name), join(own, name))
    rest = rest.filter((name) => !belongs.has(name))
    bundles.push({ folder: own, file: found.length === 1 ? found[0]! : '.', driver, stem: stemOf(found[0]!) })
  }
  return { bundles, rest }
}

function checkShapefiles(shapes: readonly string[], names: readonly string[]): void {
  for (const shape of shapes) {
    const base = shape.slice(0, -4)
    if (!names.includes(`${base}.shx`) && !names.includes(`${base}.dbf`)) {
      throw formatUnknown({ reason: `the archive lacks ${base}.shx and ${base}.dbf` })
    }
  }
}

/** Refuses a seamless table, which only names other tables anywhere. */
async function refuseSeamless(path: string): Promise<void> {
  const text = await readFile(path, 'latin1')
  if (/isseamless/i.test(text)) throw formatUnknown({ reason: 'a seamless MapInfo table only points to other data' })
}

function endingOf(name: string): string {
  return extname(name).slice(1)
}

function stemOf(name: string): string {
  return basename(name, extname(name))
}
