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

test.for<[string, Uint8Array]>([
  ['PBF', Buffer.concat([...writePbf([node])])],
  ['XML', xml],
  ['XML after a byte order mark', Buffer.concat([Buffer.from('\u{feff}'), xml])],
  ['XML in gzip', gzipSync(xml)],
  ['PBF in gzip', gzipSync(Buffer.concat([...writePbf([node])]))],
])('%s is known by its content', async ([, bytes]) => {
  expect(await readElements(await openOsm(bytesSource(bytes)))).toEqual([node])
})

test.for<[string, Uint8Array, string]>([
  ['nothing', new Uint8Array(), 'OSM_MALFORMED'],
  ['JSON', Buffer.from('{"elements":[]}'), 'OSM_UNSUPPORTED'],
  ['a zip file', Buffer.from('PK\u0003\u0004'), 'OSM_UNSUPPORTED'],
  ['bzip2', Buffer.from('BZh91AY&SY'), 'OSM_UNSUPPORTED'],
  ['gzip within gzip', gzipSync(gzipSync(xml)), 'OSM_UNSUPPORTED'],
  ['gzip of nothing', gzipSync(''), 'OSM_MALFORMED'],
  ['a gzip file that ends too early', gzipSync(xml).subarray(0, 40), 'OSM_TRUNCATED'],
  ['a damaged gzip file', Buffer.concat([gzipSync(xml).subarray(0, 30), Buffer.alloc(60, 7)]), 'OSM_MALFORMED'],
])('%s is refused', async ([, bytes, code]) => {
  await expect(openOsm(bytesSource(bytes)).then(readElements)).rejects.toMatchObject({ code })
})

test('a refusal says what the file is, and not where it lies', async () => {
  const opening = openOsm(bytesSource(Buffer.from('BZh91AY&SY'), '/secret/place/a.osm.bz2'))
  await expect(opening).rejects.toMatchObject({ message: 'The OSM file cannot be read: it is bzip2' })
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
