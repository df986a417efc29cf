import { PbfWriter } from 'pbf'
import { expect, test } from 'vitest'
import { osmExtent } from './osm-extent.ts'

/** An .osm.pbf that consists of only a header. Sides in nanodegrees: left, right, top, bottom. */
async function headerOf(sides: readonly number[] | null, pack: 'raw' | 'zlib'): Promise<Blob> {
  const header = new PbfWriter()
  if (sides)
    header.writeMessage(
      1,
      (box: readonly number[], pbf) => box.forEach((v, i) => pbf.writeSVarintField(i + 1, v)),
      sides,
    )
  header.writeStringField(4, 'OsmSchema-V0.6')
  const bytes = header.finish()
  const blob = new PbfWriter()
  if (pack === 'raw') blob.writeBytesField(1, bytes)
  else {
    blob.writeVarintField(2, bytes.length)
    blob.writeBytesField(3, await deflate(bytes))
  }
  const body = blob.finish()
  const start = new PbfWriter()
  start.writeStringField(1, 'OSMHeader')
  start.writeVarintField(3, body.length)
  const head = start.finish()
  const length = new Uint8Array(4)
  new DataView(length.buffer).setUint32(0, head.length)
  return new Blob([length, head as Uint8Array<ArrayBuffer>, body as Uint8Array<ArrayBuffer>])
}

async function deflate(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}

test.each(['raw', 'zlib'] as const)('the box of a %s header is read in degrees', async (pack) => {
  const sides = [-8_711_000_000, -8_500_000_000, 41_250_000_000, 41_100_000_001]
  expect(await osmExtent(await headerOf(sides, pack))).toEqual([-8.711, 41.100000001, -8.5, 41.25])
})

test('without a box, or of anything else, there is none', async () => {
  expect(await osmExtent(await headerOf(null, 'zlib'))).toBeNull()
  expect(await osmExtent(new Blob(['<osm version="0.6"/>']))).toBeNull()
  expect(await osmExtent(new Blob([]))).toBeNull()
  expect(await osmExtent((await headerOf([1, 2, 3, 4], 'raw')).slice(0, 20))).toBeNull()
})
