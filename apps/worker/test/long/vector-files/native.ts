import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'

const run = promisify(execFile)
const TIMEOUT_MS = 60_000
/** GeoPackage's codes for "not defined". */
const UNDEFINED_SYSTEMS = new Set([-1, 0, 99999])
const LAYER_OPTIONS = ['SPATIAL_INDEX=NO', 'FID=__fid__', 'GEOMETRY_NAME=__geometry__'].flatMap((o) => ['-lco', o])

const CSV_OPTIONS = [
  'AUTODETECT_TYPE=YES',
  'AUTODETECT_SIZE_LIMIT=0',
  'KEEP_GEOM_COLUMNS=YES',
  'X_POSSIBLE_NAMES=x,lon,lng,long,longitude,easting',
  'Y_POSSIBLE_NAMES=y,lat,latitude,northing',
  'GEOM_POSSIBLE_NAMES=wkt,geom,geometry,the_geom,_wkt',
]

/** A layer as native ogr2ogr wrote it into a GeoPackage. */
export interface NativeLayer {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  readonly hasGeometry: boolean
  /** EPSG code; null where the layer has no system; undefined where it has one without a code. */
  readonly srid: number | null | undefined
  readonly rows: number
  /** Values in the order of the columns, then the geometry's blob. */
  read(): Iterable<readonly unknown[]>
}

/** Native ogr2ogr: the words of its command, the folder of files, and the path of that folder for the command. */
export interface Peer {
  readonly command: readonly string[]
  readonly folder: string
  readonly seenAs: string
}

/** Converts a file by native ogr2ogr, or uses the result that another peer left beside it; null if that fails. */
export async function convertNatively(
  peer: Peer,
  file: string,
  format: string,
  options: readonly string[] = [],
): Promise<string | null> {
  const prepared = join(peer.folder, `${file}.expected.gpkg`)
  if (existsSync(prepared)) return prepared
  const target = join(peer.folder, '.native', `${file.replaceAll('/', '__')}.gpkg`)
  await rm(target, { force: true })
  const seen = (path: string) => path.replace(peer.folder, peer.seenAs)
  const [program, ...words] = peer.command
  const source = sourceOf(seen(join(peer.folder, file)), format)
  const args = [...words, '-f', 'GPKG', '-unsetFid', ...LAYER_OPTIONS, ...openOptions(format), ...options]
  try {
    await run(program!, [...args, seen(target), source], { timeout: TIMEOUT_MS })
  } catch {
    // It may have written some layers before one failed; those are no measure.
    return null
  }
  return existsSync(target) ? target : null
}

function sourceOf(path: string, format: string): string {
  if (path.endsWith('.gz')) return `/vsigzip/${path}`
  const isBundle = path.endsWith('.zip') && !basename(path).endsWith('.gdb.zip') && format !== 'OpenFileGDB'
  return isBundle ? `/vsizip/${path}` : path
}

function openOptions(format: string): string[] {
  switch (format) {
    // A bundle may hold tables of text; other drivers do not mind.
    case 'zip':
    case 'CSV':
      return CSV_OPTIONS.flatMap((option) => ['-oo', option])
    case 'KML':
      // This disables the other KML driver, also in versions without -if.
      return ['--config', 'OGR_SKIP', 'KML']
    default:
      return []
  }
}

export function nativeLayers(path: string): NativeLayer[] {
  const database = new DatabaseSync(path, { readOnly: true })
  const tables = database.prepare(`select table_name as name from gpkg_contents order by rowid`).all()
  return tables.map((table) => layerOf(database, String(table['name'])))
}

function layerOf(database: DatabaseSync, name: string): NativeLayer {
  const geometry = database
    .prepare('select column_name as name, srs_id as srs from gpkg_geometry_columns where table_name = ?')
    .get(name)
  const key = database.prepare(`select name from pragma_table_info(?) where pk = 1`).get(name)?.['name']
  const json = new Set(
    hasTable(database, 'gpkg_data_columns')
      ? database
          .prepare(`select column_name as name from gpkg_data_columns where table_name = ? and mime_type like '%json'`)
          .all(name)
          .map((row) => String(row['name']))
      : [],
  )
  const columns = database
    .prepare(`select name, type from pragma_table_info(?) where pk = 0`)
    .all(name)
    .map((row) => ({ name: String(row['name']), type: json.has(String(row['name'])) ? 'JSON' : String(row['type']) }))
    .filter((column) => column.name !== geometry?.['name'])
  const list = columns.map((column) => quoted(column.name))
  if (geometry) list.push(quoted(String(geometry['name'])))
  const rows = Number(database.prepare(`select count(*) as n from ${quoted(name)}`).get()!['n'])
  return {
    name,
    columns,
    hasGeometry: geometry !== undefined,
    srid: geometry ? sridOf(database, Number(geometry['srs'])) : null,
    rows,
    *read() {
      const order = key === undefined ? 'rowid' : quoted(String(key))
      const statement = database.prepare(`select ${list.join(', ') || '1'} from ${quoted(name)} order by ${order}`)
      statement.setReadBigInts(true)
      statement.setReturnArrays(true)
      for (const row of statement.iterate()) yield row as unknown as unknown[]
    },
  }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare(`select 1 from sqlite_master where name = ?`).get(name) !== undefined
}

function sridOf(database: DatabaseSync, id: number): number | null | undefined {
  if (UNDEFINED_SYSTEMS.has(id)) return null
  const found = database
    .prepare('select organization as by, organization_coordsys_id as code from gpkg_spatial_ref_sys where srs_id = ?')
    .get(id)
  return String(found?.['by']).toUpperCase() === 'EPSG' ? Number(found!['code']) : undefined
}
