import { TerraneError, seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import { randomElements } from '../../test/random-elements.ts'
import { readElements } from '../../test/read-elements.ts'
import { UNDEFINED_COORDINATE } from '../block.ts'
import type { OsmElement } from '../element.ts'
import { bytesSource } from '../source.ts'
import { XmlReader } from './read.ts'

const reader = (text: string | Uint8Array): XmlReader => new XmlReader(bytesSource(Buffer.from(text)))
const osm = (content: string): string => `<?xml version='1.0' encoding='UTF-8'?>\n<osm version="0.6">${content}</osm>\n`

test('elements of every kind, with everything in them', async () => {
  const elements = randomElements(5, 3000)
  expect(await readElements(reader(toXml(elements)))).toEqual(elements)
})

test('chunks may cut anywhere, within characters too', async () => {
  const elements = randomElements(6, 20)
  const bytes = Buffer.from(toXml(elements))
  for (const size of [1, 2, 7]) {
    const chunked = new XmlReader({
      name: 'chunks',
      size: null,
      async *chunks() {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
      },
    })
    expect(await readElements(chunked)).toEqual(elements)
  }
})

test('a pass over some kinds', async () => {
  const elements = randomElements(7, 100)
  expect(await readElements(reader(toXml(elements)), { kinds: { ways: true } })).toEqual(
    elements.filter(({ type }) => type === 'way'),
  )
})

test('entities, references, quotes, comments and deleted elements', async () => {
  const text = osm(`
    <!-- <node id="9" lon="1" lat="1"/> -->
    <node id='-1' lon='1.5' lat = '2' ><tag k='a&lt;b' v='"&#228;&#x1F30D;&amp;amp;&apos;&quot;'/></node>
    <node id="2" lon="1" lat="1" visible="false"/><node id="3" lon="1" lat="1" action="delete"><tag k="a" v="b"/></node>
    <way id="4" version="1"><nd ref="-1"/><tag k="note" v="a > b
c"/></way>`)
  expect(await readElements(reader(text.replace('lat = ', 'lat=')))).toEqual([
    { type: 'node', id: -1, lon: 1.5, lat: 2, tags: { 'a<b': '"ä🌍&amp;\'"' } },
    { type: 'way', id: 4, refs: [-1], tags: { note: 'a > b c' } },
  ])
})

test('a node without a location, or outside the Earth', async () => {
  const nodes = await readElements(
    reader(osm('<node id="1"/><node id="2" lon="181" lat="1"/><node id="3" lon="" lat="1"/>')),
  )
  expect(nodes).toMatchObject([1, 2, 3].map((id) => ({ id, lon: Number.NaN, lat: Number.NaN })))
})

test('locations on ways, of some ways and some of their nodes', async () => {
  const text = osm(`<way id="1"><nd ref="1"/></way>
    <way id="2"><nd ref="1" lon="11" lat="48"/><nd ref="2"/><nd ref="3" lon="11.5" lat="-48"/></way>
    <way id="3"><nd ref="1"/></way>`)
  const found: unknown[] = []
  await reader(text).read(({ ways }) => {
    found.push(ways.hasLocations, [...ways.refLon.subarray(0, 5)], [...ways.refLat.subarray(0, 5)])
  })
  const none = UNDEFINED_COORDINATE
  expect(found).toEqual([
    true,
    [none, 110_000_000, none, 115_000_000, none],
    [none, 480_000_000, none, -480_000_000, none],
  ])
})

test('the header of a file, with the remark of a server', async () => {
  const header = await reader(`<osm version="0.6" generator="Overpass API">
    <note>The data is from OpenStreetMap.</note><meta osm_base="2026-03-04T05:06:07Z"/>
    <bounds minlat="1" minlon="2" maxlat="3" maxlon="4"/>
    <remark> runtime error: Query timed out &amp; more </remark></osm>`).header()
  expect(header).toMatchObject({
    bbox: [2, 1, 4, 3],
    timestamp: new Date('2026-03-04T05:06:07Z'),
    writingProgram: 'Overpass API',
    remark: 'runtime error: Query timed out & more',
  })
})

test('a remark that goes on and on is cut, as are blocks of long ways', async () => {
  const ways = Array.from({ length: 9 }, (_, id) => `<way id="${id}">${'<nd ref="1"/>'.repeat(30_000)}</way>`)
  const remarks = '<remark>too much </remark>'.repeat(20_000)
  const counts: number[] = []
  const header = await reader(osm(ways.join('') + remarks)).read((block) => void counts.push(block.ways.count))
  expect(counts).toEqual([3, 3, 3])
  expect(header.remark?.length).toBeLessThan(70_000)
})

describe('bad files', () => {
  test.for<[string, string | Uint8Array, string]>([
    ['nothing', '', 'OSM_MALFORMED'],
    ['another document', '<html><body/></html>', 'OSM_UNSUPPORTED'],
    ['a change file', '<osmChange version="0.6"><modify/></osmChange>', 'OSM_UNSUPPORTED'],
    [
      'a history',
      osm('<node id="1" version="1" lon="1" lat="1"/><node id="1" version="2" lon="1" lat="1"/>'),
      'OSM_UNSUPPORTED',
    ],
    [
      'a history of what is gone',
      osm('<way id="1" version="1"/><way id="1" version="2" visible="false"/>'),
      'OSM_UNSUPPORTED',
    ],
    ['elements without a root', '<node id="1" lon="1" lat="1"/>', 'OSM_UNSUPPORTED'],
    ['a document type', `<!DOCTYPE osm [<!ENTITY a "b">]>${osm('')}`, 'OSM_UNSUPPORTED'],
    ['an unknown entity', osm('<node id="1"><tag k="a" v="&b;"/></node>'), 'OSM_MALFORMED'],
    ['a bare ampersand', osm('<node id="1"><tag k="a" v="b & c"/></node>'), 'OSM_MALFORMED'],
    ['an end too early', osm('<node id="1" lon="1" lat="1"/>').slice(0, -8), 'OSM_TRUNCATED'],
    ['an end within a tag', osm('<node id="1"/>').slice(0, -3), 'OSM_TRUNCATED'],
    ['tags that cross', osm('<way id="1"><nd ref="2"></way></nd>'), 'OSM_MALFORMED'],
    ['an id that is none', osm('<node id="one"/>'), 'OSM_MALFORMED'],
    ['an id beyond 2^53', osm('<node id="9007199254740993"/>'), 'OSM_MALFORMED'],
    ['an attribute without quotes', osm('<node id=1/>'), 'OSM_MALFORMED'],
    ['a member of another kind', osm('<relation id="1"><member type="area" ref="1"/></relation>'), 'OSM_MALFORMED'],
    ['Latin-1', Buffer.from(osm('<node id="1"><tag k="a" v="\u00e4"/></node>'), 'latin1'), 'OSM_MALFORMED'],
    ['tags without end', '<osm>'.padEnd(1000, '<a>'), 'OSM_MALFORMED'],
    [
      'a way of a million nodes and more',
      osm(`<way id="1">${'<nd ref="1"/>'.repeat(2 ** 20 + 1)}</way>`),
      'OSM_TOO_LARGE',
    ],
    ['a tag of 3 MiB', `<osm><node id="${'1'.repeat(3 << 20)}"/></osm>`, 'OSM_TOO_LARGE'],
  ])('%s', async ([, text, code]) => {
    await expect(readElements(reader(text))).rejects.toMatchObject({ code })
  })

  test('a file with any characters changed is read or refused, never a crash', async () => {
    const good = toXml(randomElements(8, 16))
    let refused = 0
    const readDamaged = async (random: () => number, seed: number): Promise<void> => {
      const at = Math.floor(random() * good.length)
      const text = good.slice(0, at) + '<>&"/= x'[seed % 8] + good.slice(at + 1)
      try {
        await readElements(reader(text))
      } catch (error) {
        if (!(error instanceof TerraneError)) throw error
        refused++
      }
    }
    for (let seed = 0; seed < 200; seed++) await readDamaged(seededRandom(seed), seed)
    expect(refused).toBeGreaterThan(20)
    await randomCases(1000, readDamaged)
  })
})

function toXml(elements: readonly OsmElement[]): string {
  const lines = elements.map((element) => {
    if (element.type === 'node') {
      return `<node id="${element.id}" lon="${element.lon}" lat="${element.lat}">${tagLines(element)}</node>`
    }
    if (element.type === 'way') {
      return `<way id="${element.id}">${element.refs.map((ref) => `<nd ref="${ref}"/>`).join('')}${tagLines(element)}</way>`
    }
    const members = element.members.map(({ type, ref, role }) => `<member type="${type}" ref="${ref}" role="${role}"/>`)
    return `<relation id="${element.id}">${members.join('')}${tagLines(element)}</relation>`
  })
  return osm(lines.join('\n'))
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function tagLines(element: OsmElement): string {
  const tags = Object.entries(element.tags ?? {})
  return tags.map(([key, value]) => `<tag k="${escape(key)}" v="${escape(value)}"/>`).join('')
}
