import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'

import { seededRandom } from '@terrane/core'
import { Ajv } from 'ajv'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { describe, expect, test } from 'vitest'

import { needs, sharedData } from '../../test/fixtures/shared-data.ts'
import type { ColumnSpec, GeoRows } from './geoparquet-file.ts'
import { type GeoParquetSummary, openGeoParquet } from './geoparquet.ts'
import { type Polygon, encodeWkb } from './wkb.ts'

const specs = sharedData('specs')
const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstdDecompressSync(bytes) }
const columns: ColumnSpec[] = [
  { name: 'id', type: 'int64' },
  { name: 'tile_x', type: 'int32' },
  { name: 'valid_fraction', type: 'float' },
  { name: 'label', type: 'string' },
]

function square(x: number, y: number, size = 0.25): Polygon {
  return [
    [
      [x, y],
      [x, y + size],
      [x + size, y + size],
      [x + size, y],
      [x, y],
    ],
  ]
}

function rows(
  first: number,
  count: number,
  dims: number,
  geometry = (i: number): Polygon[] => [square(i / 4, 45)],
): GeoRows {
  const random = seededRandom(first + 1)
  const ids = Array.from({ length: count }, (_, i) => first + i)
  return {
    columns: {
      id: ids,
      tile_x: Int32Array.from(ids, (id) => id % 7),
      valid_fraction: Float32Array.from(ids, () => random()),
      label: ids.map((id) => `tile ${id}`),
    },
    geometries: ids.map(geometry),
    embeddings: Float32Array.from({ length: count * dims }, () => random() - 0.5),
  }
}

function cut(i: number): Polygon[] {
  return i === 1 ? [square(179.75, 0), square(-180, 0)] : [square(i, 0)]
}

interface Written {
  readonly file: ArrayBuffer
  readonly summary: GeoParquetSummary
  readonly chunks: number[]
}

async function write(dims: number, parts: readonly GeoRows[]): Promise<Written> {
  const chunks: Uint8Array[] = []
  const sink = { write: async (bytes: Uint8Array): Promise<void> => void chunks.push(bytes) }
  await using writer = openGeoParquet({ columns, dims, metadata: { model: 'm' } }, sink)
  for (const part of parts) await writer.append(part)
  const summary = await writer.finish()
  const file = new Uint8Array(Buffer.concat(chunks)).buffer
  return { file, summary, chunks: chunks.map(({ length }) => length) }
}

function keyOf(file: ArrayBuffer, key: string): unknown {
  const { key_value_metadata: pairs = [] } = parquetMetadata(file)
  return JSON.parse(pairs.find((pair) => pair.key === key)?.value ?? 'null')
}

describe('a GeoParquet file', () => {
  test('holds the rows in their order, bit for bit', async () => {
    const parts = [rows(0, 3, 8), rows(3, 70, 8), rows(73, 1, 8)]
    const { file, summary } = await write(8, parts)
    expect(summary).toMatchObject({ rows: 74, bytes: file.byteLength })
    const read = await parquetReadObjects({ file, compressors })
    expect(read).toHaveLength(74)
    const embeddings = parts.flatMap((part) => Array.from(part.embeddings))
    for (const [i, row] of read.entries()) {
      expect(row).toMatchObject({ id: BigInt(i), tile_x: i % 7, label: `tile ${i}` })
      expect(row['embedding']).toEqual(embeddings.slice(i * 8, i * 8 + 8))
      expect(row['bbox']).toEqual({ xmin: i / 4, ymin: 45, xmax: (i + 1) / 4, ymax: 45.25 })
    }
  })

  test('goes out row group by row group while rows come in', async () => {
    const dims = 1024
    const parts = Array.from({ length: 5 }, (_, i) => rows(i * 500, 500, dims))
    const { file, chunks } = await write(dims, parts)
    const groups = parquetMetadata(file).row_groups.map((group) => Number(group.num_rows))
    expect(groups).toEqual([512, 512, 512, 512, 452])
    expect(chunks).toHaveLength(6)
    const short = await write(64, [rows(0, 6000, 64)])
    expect(parquetMetadata(short.file).row_groups.map((group) => Number(group.num_rows))).toEqual([5000, 1000])
  })

  test('is described by geo metadata: counter-clockwise polygons in longitude and latitude, and their covering', async () => {
    const { file, summary } = await write(4, [rows(0, 10, 4)])
    expect(keyOf(file, 'geo')).toEqual({
      version: '1.1.0',
      primary_column: 'geometry',
      columns: {
        geometry: {
          encoding: 'WKB',
          geometry_types: ['Polygon'],
          orientation: 'counterclockwise',
          bbox: [0, 45, 2.5, 45.25],
          covering: {
            bbox: { xmin: ['bbox', 'xmin'], ymin: ['bbox', 'ymin'], xmax: ['bbox', 'xmax'], ymax: ['bbox', 'ymax'] },
          },
        },
      },
    })
    expect(summary.bbox).toEqual([0, 45, 2.5, 45.25])
    expect(keyOf(file, 'emb')).toEqual({ model: 'm' })
  })

  test('names both kinds of geometry when a tile is cut by the antimeridian', async () => {
    const { file } = await write(4, [rows(0, 3, 4, cut)])
    expect(keyOf(file, 'geo')).toMatchObject({
      columns: { geometry: { geometry_types: ['MultiPolygon', 'Polygon'], bbox: [-180, 0, 180, 0.25] } },
    })
    const read = await parquetReadObjects({ file, compressors })
    expect(read[1]!['geometry']).toMatchObject({ type: 'MultiPolygon' })
  })

  test('without rows is a file, too', async () => {
    const { file, summary } = await write(4, [])
    expect(summary).toMatchObject({ rows: 0, bbox: null })
    expect(await parquetReadObjects({ file, compressors })).toEqual([])
  })

  test.skipIf(specs === null)(`has geo metadata that the published schema accepts${needs(specs)}`, async () => {
    const schema: unknown = JSON.parse(readFileSync(join(specs!, 'geoparquet/schema-1.1.0.json'), 'utf8'))
    const ajv = new Ajv({ strict: false })
    ajv.addSchema({ $id: 'https://proj.org/schemas/v0.7/projjson.schema.json' })
    if (typeof schema !== 'object' || schema === null) throw new Error('no schema')
    const validate = ajv.compile(schema)
    for (const parts of [[rows(0, 5, 4)], []]) {
      validate(keyOf((await write(4, parts)).file, 'geo'))
      expect(validate.errors).toBeNull()
    }
  })
})

describe('writing', () => {
  test('passes the failure of the sink on', async () => {
    const sink = { write: () => Promise.reject(new Error('disk full')) }
    await using writer = openGeoParquet({ columns, dims: 4, metadata: {} }, sink)
    await writer.append(rows(0, 2, 4))
    await expect(writer.finish()).rejects.toThrow('disk full')
  })

  test('refuses rows that do not fit', async () => {
    const sink = { write: () => Promise.resolve() }
    await using writer = openGeoParquet({ columns, dims: 5, metadata: {} }, sink)
    await expect(writer.append(rows(0, 2, 4))).rejects.toMatchObject({
      code: 'ARTIFACT_FAILED',
      message: expect.stringContaining('2 rows need 10 numbers, not 8'),
    })
  })
})

describe('well-known binary', () => {
  test('turns outer rings counter-clockwise and holes clockwise', () => {
    const clockwise = square(0, 0, 1)
    const hole: Polygon[number] = [
      [0.2, 0.2],
      [0.4, 0.2],
      [0.4, 0.4],
      [0.2, 0.2],
    ]
    const bytes = encodeWkb([[clockwise[0]!, hole]])
    const view = new DataView(bytes.buffer, bytes.byteOffset)
    const point = (at: number): number[] => [view.getFloat64(at, true), view.getFloat64(at + 8, true)]
    expect([view.getUint8(0), view.getUint32(1, true), view.getUint32(5, true), view.getUint32(9, true)]).toEqual([
      1, 3, 2, 5,
    ])
    expect(point(13 + 16)).toEqual([1, 0])
    expect(view.getUint32(13 + 80, true)).toBe(4)
    expect(point(13 + 84 + 16)).toEqual([0.4, 0.4])
    expect(bytes.length).toBe(13 + 84 + 64)
  })
})
