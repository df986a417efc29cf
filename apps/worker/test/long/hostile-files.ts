import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { seededRandom } from '@terrane/core'
import { zip } from '@terrane/testing/files'
import {
  Data,
  Field,
  Int32,
  List,
  Null,
  RecordBatch,
  Schema,
  Struct,
  Table,
  makeData,
  tableToIPC,
  vectorFromArray,
} from 'apache-arrow'
import type { DataType } from 'apache-arrow'
import { parquetOfEmptyRuns, parquetOfRun } from './hostile-parquet.ts'

/** Codes that a file may be refused with; `READ` where its rows may also be read. */
export type Refusals = readonly string[]

const MIB = 1024 * 1024
const MOST_INT32 = 2 ** 31 - 1

type Random = () => number
const between = (random: Random, least: number, most: number) => Math.floor(least + random() * (most - least))

/** Small files that cost their reader more than they may, and the codes that may answer them. The same seed makes the same files. */
export async function hostileFiles(
  seed: number,
): Promise<Readonly<Record<string, readonly [bytes: Buffer, codes: Refusals]>>> {
  const random = seededRandom(seed)
  const name = `t${between(random, 1, 1e6)}`
  const step = between(random, 1, 1000)
  const counting = `with recursive c(x) as (select ${step} union all select x + ${step} from c)`
  const gigabytes = between(random, 1.5e9, 2.1e9)
  const packed = Buffer.alloc(between(random, 300, 400) * MIB, `${step},`)
  const costly = ['FILE_TOO_COSTLY']
  return {
    'a view without an end': [await geoPackage(name, `${counting} select x as fid, x as a from c`), costly],
    'a view that counts and gives no row': [
      await geoPackage(name, `${counting} select x as fid from c where x < 0`),
      costly,
    ],
    'a view of large values without an end': [
      await geoPackage(name, `${counting} select x as fid, zeroblob(50000000) as a from c`),
      costly,
    ],
    'a blob of gigabytes': [
      await geoPackage(name, `select 1 as fid, zeroblob(${gigabytes}) as a`),
      ['FILE_TOO_COSTLY', 'CONVERSION_FAILED'],
    ],
    'a text that doubles': [
      await geoPackage(name, `select 1 as fid, replace(hex(zeroblob(20000000)), '00', '${'y'.repeat(step)}') as a`),
      ['FILE_TOO_COSTLY', 'CONVERSION_FAILED'],
    ],
    'Parquet of two billion rows in one run': [
      parquetOfRun(name, MOST_INT32 - step),
      ['FILE_TOO_COSTLY', 'CONVERSION_FAILED'],
    ],
    'Parquet whose runs are empty': [parquetOfEmptyRuns(name, step), ['FILE_TOO_COSTLY', 'CONVERSION_FAILED']],
    'Arrow of two billion rows without a byte': [
      arrowOfNulls(name, MOST_INT32 - step),
      ['FILE_TOO_COSTLY', 'CONVERSION_FAILED'],
    ],
    'Arrow of deep lists': [
      arrowOfLists(name, between(random, 200, 400)),
      ['NOTHING_IMPORTED', 'FILE_TOO_COSTLY', 'CONVERSION_FAILED'],
    ],
    'Arrow whose messages have no length': [
      arrowOfEmptyMessages(name, step),
      // The file's footer tells where its rows are.
      ['READ', 'FILE_TOO_COSTLY', 'CONVERSION_FAILED', 'FORMAT_UNKNOWN'],
    ],
    'a table in gzip': [gzipSync(Buffer.concat([Buffer.from('a,lat,lon\n'), packed])), ['ZIP_REFUSED']],
    'gzip in gzip': [gzipSync(gzipSync(packed)), ['ZIP_REFUSED', 'FORMAT_UNKNOWN']],
    'a table in zip': [deflated(name, packed), ['ZIP_REFUSED']],
    'entities of KML that grow': [
      Buffer.from(laughs(name)),
      ['CONVERSION_FAILED', 'FORMAT_UNKNOWN', 'FILE_TOO_COSTLY'],
    ],
    'deep brackets in GeoJSON': [
      Buffer.from(brackets(between(random, 2e6, 4e6))),
      ['CONVERSION_FAILED', 'FILE_TOO_COSTLY', 'FORMAT_UNKNOWN'],
    ],
  }
}

/** A GeoPackage whose only layer is a view. */
async function geoPackage(name: string, view: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-hostile-'))
  const path = join(folder, 'view.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`pragma application_id = 0x47504b47;
    create table gpkg_contents (table_name text, data_type text);
    insert into gpkg_contents values ('${name}', 'attributes');
    create view ${name} as ${view}`)
  database.close()
  const bytes = await readFile(path)
  await rm(folder, { recursive: true })
  return bytes
}

/** A column of nothing, which takes no bytes for any number of rows. */
function arrowOfNulls(name: string, rows: number): Buffer {
  const schema = new Schema([new Field(name, new Null(), true)])
  const children = [new Data(new Null(), 0, rows, rows)]
  const batch = new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: rows, nullCount: 0, children })) // prettier-ignore
  return Buffer.from(tableToIPC(new Table([batch]), 'file'))
}

function arrowOfLists(name: string, depth: number): Buffer {
  let type: DataType = new Int32()
  for (let i = 0; i < depth; i++) type = new List(new Field('item', type, true))
  const schema = new Schema([new Field(name, type, true)])
  return Buffer.from(tableToIPC(new Table(schema), 'file'))
}

/** A stream whose messages, after the schema, say that they are nothing and that more follow. */
function arrowOfEmptyMessages(name: string, step: number): Buffer {
  const table = new Table({ [name]: vectorFromArray([1, 2, 3], new Int32()) })
  const bytes = Buffer.from(tableToIPC(table, 'file'))
  // The length of the first message that follows the schema's, taken back to before it.
  const length = bytes.readInt32LE(12)
  const at = 8 + 8 + length
  bytes.writeInt32LE(-8 * (1 + (step % 4)), at + 4)
  return bytes
}

function deflated(name: string, data: Buffer): Buffer {
  return zip([{ name: `${name}.csv`, data: Buffer.concat([Buffer.from('a,lat,lon\n'), data]) }])
}

/** Entities of ten of the one before. */
function laughs(name: string): string {
  const entities = Array.from({ length: 12 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)
  return `<?xml version="1.0"?><!DOCTYPE kml [<!ENTITY e0 "${name}">${entities.join('')}]>
    <kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>&e12;</name><Point><coordinates>1,2</coordinates></Point></Placemark></Document></kml>`
}

function brackets(depth: number): string {
  return `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":${'['.repeat(depth)}${']'.repeat(depth)}}}]}`
}
