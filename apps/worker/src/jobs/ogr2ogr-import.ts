import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Ogr2ogrImport, type JobWarning } from '@terrane/contracts'
import {
  STAGING_SCHEMA,
  dropStaging,
  finishImportTable,
  qualified,
  registerImport,
  relationExists,
  stagedTable,
  swapIn,
  tableExists,
  type Queryable,
  type StagedTable,
} from '@terrane/database'
import { bucketNotFound, objectNotFound, objectTooLarge, type ArtifactStore } from '@terrane/storage'
import { isAboutSrs, type Converting, type Engine } from './ogr/engine.ts'
import {
  appendFailed,
  conversionFailed,
  fieldsUnknown,
  fileMissing,
  nothingImported,
  schemaNotFound,
  sourceSrsNeeded,
  targetMissing,
} from './ogr/errors.ts'
import { ewkbCodeOf } from './ogr/ewkb.ts'
import { TableLoad } from './ogr/load.ts'
import { hasLeadingZeros, obtainDataset, type Dataset } from './ogr/obtain-file.ts'
import { GEOMETRY_NAME, PgdumpReader, type DumpHeader } from './ogr/pgdump-reader.ts'
import type { JobContext, Task } from './task.ts'
import { acceptWarnings } from './warnings.ts'

/** A view in a file can make rows without end. Files grow by a tenth of this where they hold many empty fields. */
const MOST_GROWTH = 100
const MOST_OF_LIMIT = 16
const ALWAYS_ALLOWED_BYTES = 2 ** 28

const COMMON_OPTIONS = ['-f', 'PGDUMP', '-nln', 'layer', '-nlt', 'CONVERT_TO_LINEAR', '-skipfailures']

/** What a conversion without any output stands for. */
const NO_ROWS: DumpHeader = { srid: 0, geometryType: 'GEOMETRY', dimensions: 2, columns: [], geometryAt: -1 }
const DEFAULT_SRS = 'EPSG:4326'

/** Schemas that belong to the platform and the server. */
const CLOSED_SCHEMAS = /^(terrane|terrane_staging|geoembeddings|information_schema|pg_.*)$/

/** Names of CSV columns that hold coordinates when none are given. */
const CSV_NAMES = {
  x: 'x,lon,lng,long,longitude,easting',
  y: 'y,lat,latitude,northing',
  wkt: 'wkt,geom,geometry,the_geom',
}

export interface OgrSettings {
  readonly engine: Engine
  /** Largest file; an archive may hold four times as much. */
  readonly maxBytes: number
}

/** Imports a file of features into a table by GDAL. */
export function ogr2ogrImport(settings: OgrSettings): Task {
  return {
    name: 'ogr2ogrImport',
    summary: 'Import a file of features',
    description:
      'Puts one layer of a GeoJSON, GeoJSONSeq, GeoPackage, FlatGeobuf, CSV, KML, GML or GPX file, or of a zip of one of ' +
      'these, a Shapefile or MapInfo files, into a table. What a file is, its content decides. The table appears whole or ' +
      'not at all.',
    body: Ogr2ogrImport,
    expireSeconds: 6 * 3600,
    async checkSubmit(raw, { project, checkUrl }) {
      const input = raw as Ogr2ogrImport
      const { fileUrl, url, storagePath } = input
      if ([fileUrl, url, storagePath].filter((source) => source !== undefined).length !== 1) throw fileMissing()
      if (fileUrl !== undefined) checkUrl(fileUrl, '/fileUrl')
      if (url !== undefined) checkUrl(url, '/url')
      await checkTarget(project.database, input)
      if (storagePath) await checkObject(project.store, storagePath.bucket, storagePath.path, settings.maxBytes)
    },
    run: (raw, context) => new Import(raw as Ogr2ogrImport, settings, context).run(),
  }
}

/** @throws BUCKET_NOT_FOUND, OBJECT_NOT_FOUND, OBJECT_TOO_LARGE */
async function checkObject(store: ArtifactStore, bucket: string, key: string, limit: number): Promise<void> {
  if (!(await store.getBucket(bucket))) throw bucketNotFound({ bucket })
  const info = await store.head(bucket, key)
  if (!info) throw objectNotFound({ bucket, key })
  if (info.size > limit) throw objectTooLarge({ limit })
}

/** @throws SCHEMA_NOT_FOUND, TABLE_EXISTS, TABLE_NOT_FOUND */
async function checkTarget(database: Queryable, input: Ogr2ogrImport): Promise<void> {
  const { schema = 'public', tableName, mode = 'create' } = input
  const { rowCount } = await database.query('select 1 from pg_namespace where nspname = $1', [schema])
  if (CLOSED_SCHEMAS.test(schema) || !rowCount) throw schemaNotFound({ schema })
  const exists = await relationExists(database, schema, tableName)
  if (mode === 'create' && exists) throw tableExists({ schema, table: tableName })
  if (mode === 'append' && !exists) throw targetMissing({ schema, table: tableName })
}

/** What a table holds. */
interface Contents {
  readonly geometryType: string | null
  readonly srid: number | null
  readonly bbox: number[] | null
}

/** One run of the task. */
class Import {
  readonly #input: Ogr2ogrImport
  readonly #settings: OgrSettings
  readonly #context: JobContext
  readonly #staged: StagedTable

  constructor(input: Ogr2ogrImport, settings: OgrSettings, context: JobContext) {
    this.#input = input
    this.#settings = settings
    this.#context = context
    const staged = stagedTable(context.jobId, 0, input.schema ?? 'public', input.tableName)
    this.#staged = { ...staged, replaces: input.mode === 'replace' }
  }

  async run(): Promise<Readonly<Record<string, unknown>>> {
    const { signal, workdir } = this.#context
    await using prepared = this.#settings.engine.prepare(workdir, signal)
    const dataset = await obtainDataset(this.#input, this.#settings.maxBytes, this.#context)
    const { folder, file, driver } = dataset
    const keepsSources = driver === 'CSV' && (await hasLeadingZeros(join(folder, file)))
    const engine = await prepared.start(this.#conversionOf(dataset, keepsSources))
    const load = await this.#load(engine, await this.#mostBytes(dataset), keepsSources)
    const { layer, layers } = engine
    const known =
      layer.features === null ? load.rows + load.rejected : Math.min(layer.features, this.#input.limit ?? Infinity)
    const contents = load.rows > 0 ? await this.#complete(load) : null
    const rejected = Math.max(load.rejected, known - load.rows)
    if (load.rows === 0 || contents === null) {
      if (isAboutSrs(engine.complaint())) throw sourceSrsNeeded()
      throw nothingImported({ layer: layer.name, rejected, layers: layers.map(({ name }) => name) })
    }
    return this.#finish(load, layer.name, rejected, contents)
  }

  #conversionOf({ folder, file, driver }: Dataset, keepsSources: boolean) {
    const { layer = null, targetSrs = DEFAULT_SRS, fields, limit, csv = {}, encoding } = this.#input
    const sourceSrs = this.#input.sourceSrs ?? (driver === 'CSV' ? DEFAULT_SRS : undefined)
    const openOptions =
      driver === 'CSV'
        ? [
            `X_POSSIBLE_NAMES=${csv.x ?? CSV_NAMES.x}`,
            `Y_POSSIBLE_NAMES=${csv.y ?? CSV_NAMES.y}`,
            `GEOM_POSSIBLE_NAMES=${csv.wkt ?? CSV_NAMES.wkt}`,
            'KEEP_GEOM_COLUMNS=NO',
            'AUTODETECT_TYPE=YES',
            // All of the file: a value that does not fit a type found before it would be lost.
            'AUTODETECT_SIZE_LIMIT=0',
            ...(keepsSources ? ['KEEP_SOURCE_COLUMNS=YES'] : []),
          ]
        : encoding && ['ESRI Shapefile', 'MapInfo File'].includes(driver)
          ? [`ENCODING=${encoding}`]
          : []
    const creation = ['SPATIAL_INDEX=NONE', 'CREATE_SCHEMA=OFF', 'DROP_TABLE=OFF', 'PRECISION=NO', 'FID=__fid__']
    const options = [
      ...COMMON_OPTIONS,
      '-t_srs',
      targetSrs,
      ...(sourceSrs ? ['-s_srs', sourceSrs] : []),
      ...(fields ? ['-select', selected(fields, keepsSources).join(',')] : []),
      ...(limit ? ['-limit', String(limit)] : []),
      ...[...creation, `GEOMETRY_NAME=${GEOMETRY_NAME}`].flatMap((option) => ['-lco', option]),
    ]
    return { folder, file, driver, openOptions, layer, options }
  }

  /** Most bytes that the rows may take as text. */
  async #mostBytes({ folder }: Dataset): Promise<number> {
    let size = 0
    for (const name of await readdir(folder)) size += (await stat(join(folder, name))).size
    return Math.max(ALWAYS_ALLOWED_BYTES, Math.min(size * MOST_GROWTH, this.#settings.maxBytes * MOST_OF_LIMIT))
  }

  /** Loads the rows as they are converted. */
  async #load({ dump, done, layer }: Converting, mostBytes: number, keepsSources: boolean): Promise<TableLoad> {
    const { signal } = this.#context
    const reader = new PgdumpReader()
    let load = null as TableLoad | null
    const onRow = (bytes: Buffer, start: number, end: number) => {
      load ??= this.#begin(reader.header!, keepsSources)
      load.add(bytes, start, end)
    }
    try {
      let bytes = 0
      for await (const chunk of dump) {
        bytes += (chunk as Buffer).length
        if (bytes > mostBytes) throw conversionFailed({ reason: `its rows take more than ${mostBytes} bytes` })
        reader.push(chunk as Buffer, onRow)
        if (!load?.isFull) continue
        await load.flush(signal)
        this.#context.progress({ phase: 'import', done: load.rows, total: layer.features, unit: 'features' })
      }
      await done
      reader.end()
      load ??= this.#begin(reader.header ?? NO_ROWS, keepsSources)
      await load.flush(signal)
      return load
    } catch (error) {
      // The staging table can be dropped only when nothing writes into it any more.
      await load?.settle()
      throw error
    }
  }

  #begin(header: DumpHeader, keepsSources: boolean): TableLoad {
    const { database } = this.#context.project
    const { geometryType = 'auto', promoteToMulti = true, fields = [] } = this.#input
    const names = new Set(header.columns.map(({ name }) => name))
    const unknown = fields.filter((field) => !names.has(laundered(field)))
    if (unknown.length > 0) throw fieldsUnknown({ fields: unknown })
    const onlyCode = ewkbCodeOf(geometryType)
    return new TableLoad(database, this.#staged, header, { promoteToMulti, onlyCode, keepsSources })
  }

  /** Gives the geometry its type and takes out rows without finite bounds. */
  async #complete(load: TableLoad): Promise<Contents> {
    const { database } = this.#context.project
    this.#context.progress({ phase: 'indexes', done: 0, total: 1, unit: 'tables' })
    const geometryType = await load.finish()
    if (!load.hasGeometry) return { geometryType, srid: null, bbox: null }
    const measured = await measure(database, this.#staged.staging)
    if (measured.bbox === null || measured.bbox.every(Number.isFinite)) return { geometryType, ...measured }
    await load.rejectInfinite()
    return { geometryType, ...(await measure(database, this.#staged.staging)) }
  }

  async #finish(
    load: TableLoad,
    layer: string,
    rejected: number,
    { geometryType, srid, bbox }: Contents,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { jobId, project } = this.#context
    const { database } = project
    const { schema, table } = this.#staged
    const isAppend = this.#input.mode === 'append'
    const warnings = acceptWarnings(this.#input.strict, rejectedWarnings(rejected))
    const origin = await describeOrigin(this.#input)
    const columns = [
      { name: load.key, type: 'int8' as const },
      ...(load.hasGeometry ? [{ name: 'geom', type: 'geometry' as const }] : []),
    ]
    if (!isAppend) {
      const comment = `Imported from ${origin.name}, layer ${layer}.`
      await finishImportTable(database, this.#staged, { primaryKey: load.key, columns }, comment)
    }
    const result = {
      table: `${schema}.${table}`,
      rows: load.rows,
      rejected,
      geometry_type: geometryType,
      srid,
      bbox,
      columns: load.columns,
      layer,
      warnings,
    }
    const sql = isAppend ? load.appendSql(schema, table, await columnNames(database, schema, table)) : null
    try {
      await swapIn(database, jobId, isAppend ? [] : [this.#staged], result, async (session) => {
        if (sql !== null) await session.query(sql)
        const record = {
          jobId,
          task: 'ogr2ogrImport',
          source: origin,
          attribution: '',
          licence: '',
          rows: load.rows,
          bbox,
        }
        await registerImport(session, this.#staged, record)
      })
    } catch (cause) {
      throw explained(cause, `${schema}.${table}`)
    }
    if (isAppend) await dropStaging(database, jobId)
    return result
  }
}

function rejectedWarnings(rejected: number): JobWarning[] {
  if (rejected === 0) return []
  const message = 'Features of the layer are not in the table: their geometry is not of its type, or cannot be stored.'
  return [{ code: 'ROWS_REJECTED', message, count: rejected }]
}

/** Fields, each with the one that holds its text where the conversion keeps it. */
function selected(fields: readonly string[], keepsSources: boolean): string[] {
  return fields.flatMap((field) => (keepsSources ? [field, `${field}_original`] : [field]))
}

/** A field's name as the conversion writes it. */
function laundered(field: string): string {
  return field.toLowerCase().replaceAll(/[-#]/g, '_')
}

/** Where the data come from, without what an address may carry of secrets. */
async function describeOrigin(input: Ogr2ogrImport): Promise<{ readonly kind: string; readonly name: string }> {
  const address = input.fileUrl ?? input.url
  if (address === undefined) return { kind: 'storage', name: `${input.storagePath!.bucket}/${input.storagePath!.path}` }
  const { origin, pathname } = new URL(address)
  return { kind: 'url', name: `${origin}${pathname}` }
}

async function measure(database: Queryable, staging: string): Promise<Omit<Contents, 'geometryType'>> {
  const { rows } = await database.query<{ srid: number | null; box: number[] | null }>(
    `select (select st_srid(geom) from ${qualified(STAGING_SCHEMA, staging)} where geom is not null limit 1) as srid,
       case when box is not null then array[st_xmin(box), st_ymin(box), st_xmax(box), st_ymax(box)] end as box
     from (select st_extent(geom) as box from ${qualified(STAGING_SCHEMA, staging)}) t`,
  )
  return { srid: rows[0]!.srid, bbox: rows[0]!.box }
}

async function columnNames(database: Queryable, schema: string, table: string): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = format('%I.%I', $1::text, $2::text)::regclass
     and attnum > 0 and not attisdropped`,
    [schema, table],
  )
  return new Set(rows.map(({ name }) => name))
}

/** What the server says against the rows of a table that exists, or against its replacement. */
function explained(cause: unknown, table: string): unknown {
  const { code } = cause as { code?: unknown }
  const isAboutRows = typeof code === 'string' && /^(22|23|42|2B)\w{3}$/.test(code)
  return isAboutRows ? appendFailed({ table, reason: (cause as Error).message }, { cause }) : cause
}
