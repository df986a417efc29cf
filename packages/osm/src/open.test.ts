import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readElements } from '../test/read-elements.ts'
import type { OsmElement } from './element.ts'
import { openOsm } from './open.ts'
import { writePbf } from './pbf/write.ts'
import { bytesSource, fileSource } from './source.ts'

const node: OsmElement = { type: 'node', id: 1, lon: 11, lat: 48, tags: {} }
const xml = Buffer.from('<?xml version="1.0"?>\n<osm version="0.6"><node id="1" lon="11" lat="48"/></osm>')

/** Python 3.12's bz2 of the XML above; of its first 40 bytes and of the rest, behind each other; of itself; of 10 MB of zeros. */
const BZIP2 = Buffer.from(
  'QlpoOTFBWSZTWYM6YmgAAA9ZgAAQUAHlR6YnnUAgAEhqaT1DT1PKeieo0aBqmTAAADRamIhAzyHDGWrtMyAm6ybqCHsRZAtu7pgXwNjg4JXzZNDv4cBBYJ4p4XckU4UJCDOmJoA=',
  'base64',
)
const BZIP2_PARTS = Buffer.from(
  'QlpoOTFBWSZTWYjAALIAAAbZgAAQUAFhB4InmUAgACEqnqA2SekN6UKBpoZGTEfGLkPDRAzP4TtKES1IRyijei/4u5IpwoSERgAFkEJaaDkxQVkmU1njAm8TAAALGYBQAKRHJieMACAAMUyYmQZGEJmoaNBpo6ECsxqwQ2wT9nQiI80HK8e+RPxdyRThQkOMCbxM',
  'base64',
)
const BZIP2_TWICE = Buffer.from(
  'QlpoOTFBWSZTWYqPXDAAABP/9+Bo4KBloGwyeMDIMFRxAJhKQAJjQUBIEOBAYhuIACAAdDjTTCaZNNMAIaDENMBPKPU0MmaahzJk0yNMRhNNGEZqHqehHqMTyhiYholjRGJv5LJeOPBIMr+z10CS1U3sTwC7Ws3RMUgfbslyQwCFMMIKqS6pSC8+hfAgHa/0WyKTDwSS92DptL0/bEQiv5p4XEvYxaxkJ/F3JFOFCQio9cMA',
  'base64',
)
const BZIP2_BOMB = Buffer.from('QlpoOTFBWSZTWdOl3HwATJfAEMAAAAgACCAAMMwFKaaqRFGwFEUeLuSKcKEhp0u4+A==', 'base64')

test.for<[string, Uint8Array]>([
  ['PBF', Buffer.concat([...writePbf([node])])],
  ['XML', xml],
  ['XML after a byte order mark', Buffer.concat([Buffer.from('\u{feff}'), xml])],
  ['XML in gzip', gzipSync(xml)],
  ['PBF in gzip', gzipSync(Buffer.concat([...writePbf([node])]))],
  ['XML in bzip2', BZIP2],
  ['XML in two streams of bzip2', BZIP2_PARTS],
])('%s is known by its content', async ([, bytes]) => {
  expect(await readElements(await openOsm(bytesSource(bytes)))).toEqual([node])
})

test.for<[string, Uint8Array, string]>([
  ['nothing', new Uint8Array(), 'OSM_MALFORMED'],
  ['JSON', Buffer.from('{"elements":[]}'), 'OSM_UNSUPPORTED'],
  ['a zip file', Buffer.from('PK\u0003\u0004'), 'OSM_UNSUPPORTED'],
  ['zstd', Buffer.from('28b52ffd00', 'hex'), 'OSM_UNSUPPORTED'],
  ['bzip2 within bzip2', BZIP2_TWICE, 'OSM_UNSUPPORTED'],
  ['bzip2 within gzip', gzipSync(BZIP2), 'OSM_UNSUPPORTED'],
  ['a damaged bzip2 file', BZIP2.map((byte, i) => (i === 60 ? byte ^ 0x55 : byte)), 'OSM_MALFORMED'],
  ['bzip2 with something behind it', Buffer.concat([BZIP2, xml]), 'OSM_MALFORMED'],
  ['bzip2 that grows without measure', BZIP2_BOMB, 'OSM_TOO_LARGE'],
  ['gzip within gzip', gzipSync(gzipSync(xml)), 'OSM_UNSUPPORTED'],
  ['gzip of nothing', gzipSync(''), 'OSM_MALFORMED'],
  ['a gzip file that ends too early', gzipSync(xml).subarray(0, 40), 'OSM_TRUNCATED'],
  ['a damaged gzip file', Buffer.concat([gzipSync(xml).subarray(0, 30), Buffer.alloc(60, 7)]), 'OSM_MALFORMED'],
])('%s is refused', async ([, bytes, code]) => {
  await expect(openOsm(bytesSource(bytes)).then(readElements)).rejects.toMatchObject({ code })
})

test('a bzip2 file that is cut off is refused wherever the cut is', async () => {
  for (const whole of [BZIP2, BZIP2_PARTS])
    for (let length = 4; length < whole.length; length++) {
      // The first part is a whole stream.
      if (whole === BZIP2_PARTS && length === BZIP2_PARTS.indexOf('BZh9', 1)) continue
      const reading = openOsm(bytesSource(whole.subarray(0, length))).then(readElements)
      await expect(reading, `${length} bytes`).rejects.toMatchObject({ code: 'OSM_TRUNCATED' })
    }
})

test('a refusal says what the file is, and not where it lies', async () => {
  const opening = openOsm(bytesSource(Buffer.from('28b52ffd00', 'hex'), '/secret/place/a.osm.zst'))
  await expect(opening).rejects.toMatchObject({ message: 'The OSM file cannot be read: it is zstd' })
})

test('a local file is read anew in each pass', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-osm-'))
  try {
    const path = join(folder, 'any name')
    await writeFile(path, Buffer.concat([...writePbf([node])]))
    const reader = await openOsm(await fileSource(path))
    expect(await readElements(reader)).toEqual([node])
    expect(await readElements(reader)).toEqual([node])
  } finally {
    await rm(folder, { recursive: true })
  }
})
