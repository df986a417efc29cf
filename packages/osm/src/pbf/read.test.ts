import { deflateSync, zstdCompressSync } from 'node:zlib'
import { TerraneError, seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import { deltas, fileBlock, pbfWith, primitiveBlock, rawBlob } from '../../test/pbf-files.ts'
import { randomElements } from '../../test/random-elements.ts'
import { readElements } from '../../test/read-elements.ts'
import { UNDEFINED_COORDINATE } from '../block.ts'
import type { OsmElement } from '../element.ts'
import { bytesSource } from '../source.ts'
import type { OsmSource } from '../source.ts'
import { PbfReader } from './read.ts'
import { WireWriter } from './wire-writer.ts'
import { writePbf } from './write.ts'
import type { PbfWriteOptions } from './write.ts'

const pbf = (elements: Iterable<OsmElement>, options?: PbfWriteOptions): Uint8Array =>
  Buffer.concat([...writePbf(elements, options)])
const reader = (bytes: Uint8Array, ahead?: number): PbfReader => new PbfReader(bytesSource(bytes), ahead)
const code = async (bytes: Uint8Array): Promise<string> => {
  try {
    await readElements(reader(bytes))
    return 'read'
  } catch (error) {
    if (error instanceof TerraneError) return error.code
    throw error
  }
}

describe('what is written is read back', () => {
  const elements = randomElements(1, 4000)
  test.for<[string, PbfWriteOptions, number]>([
    ['zlib, dense', {}, 4],
    ['zlib, dense, unpacked in this thread', {}, 0],
    ['uncompressed', { compression: 'none' }, 4],
    ['zstd', { compression: 'zstd' }, 4],
    ['zstd, unpacked in this thread', { compression: 'zstd' }, 0],
    ['a message per node', { dense: false }, 4],
    ['blocks of seven', { blockSize: 7 }, 4],
    ['offsets of the coordinates', { lonOffset: 1_234_567_800, latOffset: -5_000_000_000 }, 4],
    ['fine granularity', { granularity: 20 }, 4],
  ])('%s', async ([, options, ahead]) => {
    expect(await readElements(reader(pbf(elements, options), ahead))).toEqual(elements)
  })

  test('coarse granularity rounds to its grid', async () => {
    const [node] = await readElements(
      reader(pbf([{ type: 'node', id: 1, lon: 11.5678949, lat: -48.1234567 }], { granularity: 1000 })),
    )
    expect(node).toMatchObject({ lon: 11.567895, lat: -48.123457 })
  })

  test('the header', async () => {
    const header = await reader(
      pbf([], {
        bbox: [-11.5, -48.25, 11.6, 48.125],
        timestamp: new Date('2026-01-02T03:04:05Z'),
        writingProgram: 'a test',
        optionalFeatures: ['Sort.Type_then_ID'],
      }),
    ).header()
    expect(header).toMatchObject({
      bbox: [-11.5, -48.25, 11.6, 48.125],
      timestamp: new Date('2026-01-02T03:04:05Z'),
      writingProgram: 'a test',
      requiredFeatures: ['OsmSchema-V0.6', 'DenseNodes'],
      sorted: true,
      remark: null,
    })
  })

  test('chunks of any size', async () => {
    const bytes = pbf(elements.slice(0, 50))
    for (const size of [1, 3, 64, 1000]) {
      const source: OsmSource = {
        name: 'chunks',
        size: bytes.length,
        async *chunks() {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
        },
      }
      expect(await readElements(new PbfReader(source))).toEqual(elements.slice(0, 50))
    }
  })
})

describe('a pass over some kinds', () => {
  const elements = randomElements(2, 200)

  test('decodes those only, the first time and the next', async () => {
    const file = reader(pbf(elements, { blockSize: 10 }))
    for (const pass of [1, 2]) {
      const ways = await readElements(file, { kinds: { ways: true } })
      expect(ways, `pass ${pass}`).toEqual(elements.filter(({ type }) => type === 'way'))
      const rest = await readElements(file, { kinds: { nodes: true, relations: true } })
      expect(rest, `pass ${pass}`).toEqual(elements.filter(({ type }) => type !== 'way'))
    }
  })

  test('waits for a visitor that returns a promise', async () => {
    let open = 0
    await reader(pbf(elements, { blockSize: 5 })).read(async () => {
      expect(open).toBe(0)
      open++
      await new Promise(setImmediate)
      open--
    })
    expect(open).toBe(0)
  })

  test('stops when it is aborted', async () => {
    const controller = new AbortController()
    let blocks = 0
    const reading = reader(pbf(elements, { blockSize: 5 })).read(
      () => {
        if (++blocks === 3) controller.abort()
      },
      { signal: controller.signal },
    )
    await expect(reading).rejects.toThrow(/abort/i)
    expect(blocks).toBe(3)
  })
})

describe('what other writers do', () => {
  test('lz4 blobs', async () => {
    const group = new WireWriter()
      .bytes(
        2,
        new WireWriter().bytes(1, deltas(7)).bytes(8, deltas(480_000_000)).bytes(9, deltas(110_000_000)).finish(),
      )
      .finish()
    // 64 equal strings: a long match that overlaps itself.
    const content = primitiveBlock(
      Array.from({ length: 64 }, () => 'aaaaaaaaaaaaaaa'),
      group,
    )
    const blob = new WireWriter().varint(2, content.length).bytes(6, lz4(content)).finish()
    expect(blob.length).toBeLessThan(100)
    expect(await readElements(reader(pbfWith(blob)))).toEqual([{ type: 'node', id: 7, lon: 11, lat: 48, tags: {} }])
  })

  test('locations on ways, of some ways', async () => {
    const located = new WireWriter().varint(1, 2).bytes(8, deltas(1, 2))
    located.bytes(9, deltas(480_000_000, 480_000_001)).bytes(10, deltas(110_000_000, 110_000_002))
    const bare = new WireWriter().varint(1, 1).bytes(8, deltas(1, 2)).finish()
    const group = new WireWriter().bytes(3, bare).bytes(3, located.finish()).bytes(3, bare).finish()
    const found: unknown[] = []
    await reader(pbfWith(rawBlob(primitiveBlock([''], group)), ['LocationsOnWays'])).read(({ ways }) => {
      found.push(ways.hasLocations, [...ways.refLon.subarray(0, 6)], [...ways.refLat.subarray(0, 6)])
    })
    const none = UNDEFINED_COORDINATE
    expect(found).toEqual([
      true,
      [none, none, 110_000_000, 110_000_002, none, none],
      [none, none, 480_000_000, 480_000_001, none, none],
    ])
  })

  test('nodes outside the Earth have no location', async () => {
    const dense = new WireWriter()
      .bytes(1, deltas(1, 2))
      .bytes(8, deltas(910_000_000, 480_000_000))
      .bytes(9, deltas(5, 5))
      .finish()
    const nodes = await readElements(
      reader(pbfWith(rawBlob(primitiveBlock([''], new WireWriter().bytes(2, dense).finish())))),
    )
    expect(nodes).toMatchObject([
      { lon: Number.NaN, lat: Number.NaN },
      { lon: 5e-7, lat: 48 },
    ])
  })

  test('unknown fields and file blocks are passed over', async () => {
    const group = new WireWriter()
      .bytes(3, new WireWriter().varint(1, 5).varint(90, 3).bytes(91, deltas(1)).finish())
      .finish()
    const file = Buffer.concat([
      fileBlock('OSMHeader', rawBlob(new Uint8Array())),
      fileBlock('Index', deltas(1, 2)),
      fileBlock(
        'OSMData',
        rawBlob(Buffer.concat([primitiveBlock([''], group), new WireWriter().varint(77, 1).finish()])),
      ),
    ])
    expect(await readElements(reader(file))).toEqual([{ type: 'way', id: 5, refs: [], tags: {} }])
  })
})

describe('bad files', () => {
  const good = pbf(randomElements(3, 60), { blockSize: 20, compression: 'none' })

  test('a file that ends too early, anywhere inside a block, is an error', async () => {
    const codes = new Set<string>()
    for (let end = 0; end < good.length; end += 7) codes.add(await code(good.subarray(0, end)))
    expect([...codes].toSorted()).toEqual(['OSM_MALFORMED', 'OSM_TRUNCATED'])
  })

  test('a file with any bytes changed is read or refused, never a crash', async () => {
    const plain = pbf(randomElements(4, 60), { compression: 'none', blockSize: 20 })
    const damaged = (random: () => number, seed: number): Promise<string> => {
      const bytes = Uint8Array.from(plain)
      for (let i = 0; i <= seed % 4; i++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
      return code(bytes)
    }
    const possible = ['OSM_MALFORMED', 'OSM_TRUNCATED', 'OSM_UNSUPPORTED', 'read']
    const codes = new Set<string>()
    for (let seed = 0; seed < 500; seed++) codes.add(await damaged(seededRandom(seed), seed))
    expect([...codes].toSorted()).toEqual(possible)
    await randomCases(3000, async (random, seed) => expect(possible).toContain(await damaged(random, seed)))
  })

  test.for<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'OSM_MALFORMED'],
    ['text', Buffer.from('<osm version="0.6"></osm>'), 'OSM_MALFORMED'],
    ['history', pbf([], { requiredFeatures: ['HistoricalInformation'] }), 'OSM_UNSUPPORTED'],
    ['data before the header', fileBlock('OSMData', rawBlob(new Uint8Array())), 'OSM_MALFORMED'],
    ['lzma', pbfWith(new WireWriter().varint(2, 5).bytes(4, Buffer.from('xxxxx')).finish()), 'OSM_UNSUPPORTED'],
    ['a blob without data', pbfWith(new WireWriter().varint(2, 5).finish()), 'OSM_MALFORMED'],
    [
      'a blob of declared 33 MiB',
      pbfWith(
        new WireWriter()
          .varint(2, 33 << 20)
          .bytes(3, zeros(9))
          .finish(),
      ),
      'OSM_TOO_LARGE',
    ],
    ['a zlib blob smaller than declared', pbfWith(zlibBlob(zeros(1000), 2000)), 'OSM_MALFORMED'],
    ['a zlib blob larger than declared', pbfWith(zlibBlob(zeros(30 << 20), 100)), 'OSM_MALFORMED'],
    [
      'a zlib blob without a declared size',
      pbfWith(new WireWriter().bytes(3, deflateSync(zeros(9))).finish()),
      'OSM_MALFORMED',
    ],
    ['a zstd blob larger than declared', pbfWith(zstdBlob(zeros(30 << 20), 100)), 'OSM_MALFORMED'],
    ['a zstd blob smaller than declared', pbfWith(zstdBlob(zeros(10), 100)), 'OSM_MALFORMED'],
    ['an lz4 blob that is none', pbfWith(new WireWriter().varint(2, 50).bytes(6, zeros(7)).finish()), 'OSM_MALFORMED'],
    ['an id beyond 2^53', pbfWith(wayBlob(new WireWriter().varint(1, 2 ** 60).finish())), 'OSM_MALFORMED'],
    ['a way without an id', pbfWith(wayBlob(new WireWriter().bytes(8, deltas(1)).finish())), 'OSM_MALFORMED'],
    [
      'a key without a value',
      pbfWith(wayBlob(new WireWriter().varint(1, 1).bytes(2, deltas(0)).finish())),
      'OSM_MALFORMED',
    ],
    [
      'a tag outside the string table',
      pbfWith(wayBlob(new WireWriter().varint(1, 1).bytes(2, Uint8Array.of(0)).bytes(3, Uint8Array.of(1)).finish())),
      'OSM_MALFORMED',
    ],
  ])('%s', async ([, bytes, expected]) => {
    expect(await code(bytes)).toBe(expected)
  })

  test('the message names the place', async () => {
    await expect(readElements(reader(good.subarray(0, good.length - 1)))).rejects.toThrow(
      `The OSM file ends at byte ${good.length - 1}, where a blob should be`,
    )
  })
})

function zeros(length: number): Uint8Array {
  return new Uint8Array(length)
}

function zlibBlob(content: Uint8Array, declared: number): Uint8Array {
  return new WireWriter().varint(2, declared).bytes(3, deflateSync(content)).finish()
}

function zstdBlob(content: Uint8Array, declared: number): Uint8Array {
  return new WireWriter().varint(2, declared).bytes(7, zstdCompressSync(content)).finish()
}

function wayBlob(way: Uint8Array): Uint8Array {
  return rawBlob(primitiveBlock([''], new WireWriter().bytes(3, way).finish()))
}

/** A greedy LZ4 block compressor, for the reader's sake. */
function lz4(input: Uint8Array): Uint8Array {
  const out: number[] = []
  const long = (value: number): void => {
    for (let rest = value - 15; rest >= 0; rest -= 255) out.push(Math.min(rest, 255))
  }
  let literal = 0
  let at = 0
  while (at < input.length - 12) {
    const distance = [1, 16, 17].find((d) => d <= at && [0, 1, 2, 3].every((i) => input[at + i] === input[at + i - d]))
    if (distance === undefined) {
      at++
      continue
    }
    let length = 4
    while (at + length < input.length - 5 && input[at + length] === input[at + length - distance]) length++
    out.push((Math.min(at - literal, 15) << 4) | Math.min(length - 4, 15))
    long(at - literal)
    out.push(...input.subarray(literal, at), distance & 255, distance >> 8)
    long(length - 4)
    at += length
    literal = at
  }
  out.push(Math.min(input.length - literal, 15) << 4)
  long(input.length - literal)
  out.push(...input.subarray(literal))
  return Uint8Array.from(out)
}
