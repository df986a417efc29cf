import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { seededRandom } from '@terrane/core'
import { ByteWriter, parquetWrite, type ColumnSource } from 'hyparquet-writer'

type SchemaElement = NonNullable<Parameters<typeof parquetWrite>[0]['schema']>[number]
type Position = readonly [number, number]

export interface OvertureFeature {
  readonly id: string
  readonly wkb: Uint8Array
  readonly box: readonly [number, number, number, number]
  readonly name: string | null
  readonly levels: number | null
}

function wkbOf(type: 'point' | 'line' | 'polygon' | 'multipolygon', positions: readonly Position[]): Uint8Array {
  const bytes: number[] = []
  const u32 = (value: number) => bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >> 24) & 255)
  const head = (code: number) => {
    bytes.push(1)
    u32(code)
  }
  if (type === 'multipolygon') {
    head(6)
    u32(1)
  }
  head(type === 'point' ? 1 : type === 'line' ? 2 : 3)
  if (type === 'polygon' || type === 'multipolygon') u32(1)
  if (type !== 'point') u32(positions.length)
  return Uint8Array.from([...bytes, ...new Uint8Array(Float64Array.from(positions.flat()).buffer)])
}

function featureOf(
  id: string,
  type: Parameters<typeof wkbOf>[0],
  positions: readonly Position[],
  name: string | null,
): OvertureFeature {
  const xs = positions.map(([x]) => x)
  const ys = positions.map(([, y]) => y)
  const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)] as const
  return { id, wkb: wkbOf(type, positions), box, name, levels: id.length % 3 === 0 ? null : id.length }
}

function square(x: number, y: number, side: number): Position[] {
  return [
    [x, y],
    [x + side, y],
    [x + side, y + side],
    [x, y + side],
    [x, y],
  ]
}

/** Seeded features over 10 by 10 degrees, or another square, in rows from south to north as Overture's are. */
export function features(
  count: number,
  kind: 'building' | 'water' | 'place',
  seed: number,
  { west, south, side }: { west: number; south: number; side: number } = { west: 0, south: 0, side: 10 },
): OvertureFeature[] {
  const random = seededRandom(seed)
  const unit = side / 10
  return Array.from({ length: count }, (_, i) => {
    const [x, y] = [west + random() * side, south + (i / count) * side]
    const id = `${kind}-${String(i).padStart(6, '0')}`
    const name = random() < 0.5 ? `${kind} "${i}" \\ ä` : null
    if (kind === 'place') return featureOf(id, 'point', [[x, y]], name)
    if (kind === 'building')
      return featureOf(
        id,
        i % 4 === 0 ? 'multipolygon' : 'polygon',
        square(x, y, (0.01 + random() * 0.05) * unit),
        name,
      )
    if (i % 3 === 0) return featureOf(id, 'point', [[x, y]], name)
    if (i % 3 === 1)
      return featureOf(
        id,
        'line',
        [
          [x, y],
          [x + random() * unit, y + random() * unit],
        ],
        name,
      )
    return featureOf(id, 'polygon', square(x, y, random() * unit), name)
  })
}

const OPTIONAL = { repetition_type: 'OPTIONAL' } as const
const text = (name: string): SchemaElement => ({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', ...OPTIONAL })

/** Features in Overture's layout: bbox structs with statistics, nested names and sources, ZSTD, GeoParquet metadata. */
export function overtureParquet(rows: readonly OvertureFeature[], rowGroupSize: number): Uint8Array {
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: 7 },
    text('id'),
    { name: 'geometry', type: 'BYTE_ARRAY', ...OPTIONAL },
    { name: 'bbox', num_children: 4, ...OPTIONAL },
    ...['xmin', 'xmax', 'ymin', 'ymax'].map((name): SchemaElement => ({ name, type: 'FLOAT', ...OPTIONAL })),
    { name: 'version', type: 'INT32', ...OPTIONAL },
    { name: 'sources', num_children: 1, converted_type: 'LIST', ...OPTIONAL },
    { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
    { name: 'element', num_children: 2, ...OPTIONAL },
    text('dataset'),
    { name: 'confidence', type: 'DOUBLE', ...OPTIONAL },
    { name: 'names', num_children: 1, ...OPTIONAL },
    text('primary'),
    { name: 'num_floors', type: 'INT32', ...OPTIONAL },
  ]
  const columnData: ColumnSource[] = [
    { name: 'id', data: rows.map(({ id }) => id) },
    { name: 'geometry', data: rows.map(({ wkb }) => wkb) },
    { name: 'bbox', data: rows.map(({ box: [xmin, ymin, xmax, ymax] }) => ({ xmin, xmax, ymin, ymax })) },
    { name: 'version', data: rows.map((_, i) => i % 5) },
    { name: 'sources', data: rows.map(({ id }) => [{ dataset: `set of ${id}`, confidence: 0.5 }]) },
    { name: 'names', data: rows.map(({ name }) => (name === null ? null : { primary: name })) },
    { name: 'num_floors', data: rows.map(({ levels }) => levels) },
  ]
  const writer = new ByteWriter()
  const geo = {
    version: '1.1.0',
    primary_column: 'geometry',
    columns: { geometry: { encoding: 'WKB', geometry_types: [] } },
  }
  void parquetWrite({
    writer,
    columnData,
    schema,
    rowGroupSize,
    codec: 'ZSTD',
    compressors: { ZSTD: (input) => zstdCompressSync(input) },
    kvMetadata: [{ key: 'geo', value: JSON.stringify(geo) }],
  })
  return new Uint8Array(writer.getBuffer())
}

/** A file in the form of other writers: no statistics, any codec, maps, empty columns, dates and large numbers. */
export function unusualParquet(
  rows: readonly OvertureFeature[],
  codec: NonNullable<Parameters<typeof parquetWrite>[0]['codec']>,
): Uint8Array {
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: 8 },
    text('id'),
    { name: 'geometry', type: 'BYTE_ARRAY', ...OPTIONAL },
    { name: 'bbox', num_children: 4, ...OPTIONAL },
    ...['xmin', 'xmax', 'ymin', 'ymax'].map((name): SchemaElement => ({ name, type: 'FLOAT', ...OPTIONAL })),
    { name: 'common', num_children: 1, converted_type: 'MAP', ...OPTIONAL },
    { name: 'key_value', num_children: 2, repetition_type: 'REPEATED' },
    { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    text('value'),
    { name: 'day', type: 'INT32', converted_type: 'DATE', ...OPTIONAL },
    { name: 'serial', type: 'INT64', ...OPTIONAL },
    text('nothing'),
    { name: 'empty', num_children: 1, ...OPTIONAL },
    { name: 'depth', type: 'DOUBLE', ...OPTIONAL },
  ]
  const columnData: ColumnSource[] = [
    { name: 'id', data: rows.map(({ id }) => id) },
    { name: 'geometry', data: rows.map(({ wkb }) => wkb) },
    { name: 'bbox', data: rows.map(({ box: [xmin, ymin, xmax, ymax] }) => ({ xmin, xmax, ymin, ymax })) },
    { name: 'common', data: rows.map(({ id }, i) => (i % 2 ? null : { en: id, de: null })) },
    { name: 'day', data: rows.map((_, i) => (i % 2 ? null : new Date(Date.UTC(2024, 1, 29)))) },
    { name: 'serial', data: rows.map((_, i) => 9_007_199_254_740_993n + BigInt(i)) },
    { name: 'nothing', data: rows.map(() => null) },
    { name: 'empty', data: rows.map(() => null) },
  ]
  const writer = new ByteWriter()
  const zlib = {
    ZSTD: (input: Uint8Array) => zstdCompressSync(input),
    GZIP: (input: Uint8Array) => gzipSync(input),
    BROTLI: (input: Uint8Array) => brotliCompressSync(input),
  }
  void parquetWrite({ writer, columnData, schema, rowGroupSize: 7, codec, compressors: zlib, statistics: false })
  return new Uint8Array(writer.getBuffer())
}

/** The index of a release: one row per file. */
export function indexParquet(files: readonly { type: string; href: string; bbox: readonly number[] }[]): Uint8Array {
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: 4 },
    text('type'),
    text('collection'),
    { name: 'bbox', num_children: 4, ...OPTIONAL },
    ...['xmin', 'ymin', 'xmax', 'ymax'].map((name): SchemaElement => ({ name, type: 'DOUBLE', ...OPTIONAL })),
    { name: 'assets', num_children: 1, ...OPTIONAL },
    { name: 'aws', num_children: 1, ...OPTIONAL },
    text('href'),
  ]
  const writer = new ByteWriter()
  void parquetWrite({
    writer,
    schema,
    columnData: [
      { name: 'type', data: files.map(() => 'Feature') },
      { name: 'collection', data: files.map(({ type }) => type) },
      { name: 'bbox', data: files.map(({ bbox: [xmin, ymin, xmax, ymax] }) => ({ xmin, ymin, xmax, ymax })) },
      { name: 'assets', data: files.map(({ href }) => ({ aws: { href } })) },
    ],
  })
  return new Uint8Array(writer.getBuffer())
}

/** A file server with ranges and ETags, like an object store, that counts sent bytes. */
export interface FileServer extends AsyncDisposable {
  readonly base: string
  readonly host: string
  readonly files: Map<string, Uint8Array>
  readonly requests: { path: string; range: string | undefined; bytes: number }[]
  /** Answers a request in place of the file server; return false to pass it on. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null
}

export async function serveFiles(): Promise<FileServer> {
  const files = new Map<string, Uint8Array>()
  const requests: FileServer['requests'] = []
  const server = createServer((request, response) => {
    if (state.intercept?.(request, response)) return
    const bytes = files.get(request.url ?? '')
    if (!bytes) return void response.writeHead(404).end()
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`
    if (request.headers['if-match'] && request.headers['if-match'] !== etag) return void response.writeHead(412).end()
    const asked = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '')
    const start = asked ? (asked[1] ? Number(asked[1]) : Math.max(0, bytes.length - Number(asked[2]))) : 0
    const end = asked?.[1] && asked[2] ? Math.min(bytes.length, Number(asked[2]) + 1) : bytes.length
    requests.push({ path: request.url!, range: request.headers.range, bytes: end - start })
    const headers = { etag, 'content-length': end - start, 'accept-ranges': 'bytes' }
    const range = { ...headers, 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` }
    response.writeHead(asked ? 206 : 200, asked ? range : headers)
    response.end(bytes.subarray(start, end))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const state: FileServer = {
    base: `http://${host}`,
    host,
    files,
    requests,
    intercept: null,
    [Symbol.asyncDispose]: async () => void server.close(),
  }
  return state
}
