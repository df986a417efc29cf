import { readAoi, type Aoi } from '@terrane/core'
import { ChangingMap } from '@terrane/testing/changing-map'
import { randomCases } from '@terrane/testing/property'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { OsmElement } from '../element.ts'
import { openOsm } from '../open.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { importOsmArea, topicTables } from '../topics/import-area.ts'
import type { ImportRow } from '../topics/topic-rows.ts'
import { importAffected } from './import-elements.ts'
import { PageRecorder } from './page-recorder.ts'
import type { Page, PageStore } from './pages.ts'
import { planUpdate } from './plan-update.ts'
import { readChanges } from './read-changes.ts'

const TOPICS = [...new Set(topicTables().map(({ topic }) => topic)), 'all']

/** Tables and pages in memory. */
class Memory implements PageStore {
  readonly rows = new Map<string, string>()
  readonly pages = new Map<string, Page>()

  async read(kind: number, pages: readonly number[]): Promise<Page[]> {
    return [...this.pages.values()].filter((one) => one.kind === kind && pages.includes(one.page))
  }

  put({ kind, page, part, data }: Page): void {
    if (data.length > 0) this.pages.set(`${kind} ${page} ${part}`, { kind, page, part, data: data.slice() })
  }

  replace(page: Page): void {
    for (const [key, one] of this.pages) if (one.kind === page.kind && one.page === page.page) this.pages.delete(key)
    this.put(page)
  }

  /** A row is known by its table and element; its id is its own affair. */
  readonly sink = {
    write: (table: number, rows: readonly ImportRow[]): void => {
      for (const [, type, id, ...values] of rows) {
        const key = `${TABLES[table]!.suffix} ${String(type)} ${String(id)}`
        if (this.rows.has(key)) throw new Error(`${key} is there already`)
        this.rows.set(key, JSON.stringify(values))
      }
    },
  }
}
const TABLES = topicTables(TOPICS)

function sourceOf(elements: readonly OsmElement[]) {
  return openOsm(bytesSource(Buffer.concat([...writePbf(elements)])))
}

async function imported(elements: readonly OsmElement[], aoi: Aoi | null): Promise<Memory> {
  const memory = new Memory()
  const recorder = new PageRecorder(await sourceOf(elements), async (pages) =>
    pages.forEach((page) => memory.put(page)),
  )
  await importOsmArea(recorder, aoi, TOPICS, memory.sink)
  return memory
}

async function update(memory: Memory, xml: string | Uint8Array, aoi: Aoi | null, extent: Aoi['boxes'] | null = null) {
  const changes = await readChanges(bytesSource(Buffer.from(xml as string)))
  const plan = await planUpdate(changes, memory, extent)
  const letters = { N: plan.affected.node, W: plan.affected.way, R: plan.affected.relation }
  for (const key of memory.rows.keys()) {
    const [, letter, id] = key.split(' ')
    if (letters[letter as 'N'].has(Number(id))) memory.rows.delete(key)
  }
  await importAffected(plan, { aoi, topics: TOPICS }, memory.sink)
  for (const page of plan.pages) memory.replace(page)
  return plan
}

const sorted = (rows: ReadonlyMap<string, string>) => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Bytes of each page, of references in whatever part. */
const contentsOf = ({ pages }: Memory) =>
  new Map([...pages.values()].map(({ kind, page, data }) => [`${kind} ${page}`, Buffer.from(data).toString('hex')]))

describe('after a change file', () => {
  const area = readAoi(
    { type: 'Polygon', coordinates: [[[11.02, 48.01], [11.09, 48.03], [11.06, 48.09], [11.02, 48.01]]] }, // prettier-ignore
    { maxAreaKm2: Infinity, maxVertices: 100 },
  )

  test('rows and pages are those of an import of the newer extract, in an area or all of it', async () => {
    await randomCases(40, async (random, seed) => {
      const map = new ChangingMap(seed, 6)
      const aoi = seed % 2 === 0 ? null : area
      const memory = await imported(map.elements(), aoi)
      for (let file = 0; file < 4; file++) {
        const xml = map.change(1 + Math.floor(random() * 12))
        await update(memory, file % 2 === 0 ? xml : gzipSync(xml), aoi)
        const fresh = await imported(map.elements(), aoi)
        expect(sorted(memory.rows)).toEqual(sorted(fresh.rows))
        expect(sorted(contentsOf(memory))).toEqual(sorted(contentsOf(fresh)))
      }
    })
  })
})

describe('a change file', () => {
  const read = (content: string, options = {}) => readChanges(bytesSource(Buffer.from(content)), options)
  const osc = (content: string): string => `<osmChange version="0.6">${content}</osmChange>`

  test('may hold an element more than once: the highest version counts, and the last of equal ones', async () => {
    const node = (id: number, version: string, lon: number) => `<node id="${id}" ${version} lon="${lon}" lat="1"/>`
    const { nodes, ways } = await read(
      osc(
        `<create>${node(1, 'version="1"', 1)}${node(2, 'version="3"', 3)}${node(3, '', 1)}</create>
         <delete><node id="1" version="2"/><node id="4" version="9"/><way id="7"/></delete>
         <modify>${node(2, 'version="2"', 2)}${node(3, '', 3)}<node id="5" visible="false" version="2"/></modify>
         <create><way id="8" version="1"><nd ref="1"/><tag k="a" v="&lt;b&gt;"/></way></create>`,
      ),
    )
    expect([...nodes].map(([id, one]) => [id, one?.lon ?? null])).toEqual([[1, null], [2, 3], [3, 3], [4, null], [5, null]]) // prettier-ignore
    expect([...ways]).toEqual([[7, null], [8, { type: 'way', id: 8, refs: [1], tags: { a: '<b>' } }]]) // prettier-ignore
  })

  test.for<[string, string, string]>([
    ['nothing', '', 'OSM_MALFORMED'],
    ['an extract', '<osm version="0.6"><node id="1" lon="1" lat="1"/></osm>', 'OSM_UNSUPPORTED'],
    ['an element without an action', osc('<node id="1" lon="1" lat="1"/>'), 'OSM_MALFORMED'],
    ['a deleted element without an id', osc('<delete><node/></delete>'), 'OSM_MALFORMED'],
    ['an end too early', osc('<delete><node id="1"/></delete>').slice(0, -9), 'OSM_TRUNCATED'],
    ['a document type', `<!DOCTYPE a [<!ENTITY b "c">]>${osc('')}`, 'OSM_UNSUPPORTED'],
  ])('that is none is refused: %s', async ([, content, code]) => {
    await expect(read(content)).rejects.toMatchObject({ code })
  })

  test('is bounded in elements and bytes, also when it is packed', async () => {
    const many = osc(`<delete>${Array.from({ length: 20 }, (_, id) => `<node id="${id}"/>`).join('')}</delete>`)
    await expect(read(many, { maxElements: 10 })).rejects.toMatchObject({ code: 'OSM_TOO_LARGE' })
    const packed = bytesSource(gzipSync(osc(' '.repeat(1e6))))
    await expect(readChanges(packed, { maxBytes: 1e5 })).rejects.toMatchObject({ code: 'OSM_TOO_LARGE' })
  })

  test.for([
    ['references', (i: number) => `<way id="${i}">${'<nd ref="1"/>'.repeat(2000)}</way>`],
    ['members', (i: number) => `<relation id="${i}">${'<member type="way" ref="1"/>'.repeat(400)}</relation>`],
    ['tags', (i: number) => `<node id="1" version="${i}">${'<tag k="a" v="b"/>'.repeat(400)}</node>`],
    ['text', (i: number) => `<node id="${i}"><tag k="a" v="${'x'.repeat(20_000)}"/></node>`],
    ['elements', (i: number) => Array.from({ length: 150 }, (_, k) => `<node id="${i * 150 + k}"/>`).join('')],
  ] as const)('is bounded in what it takes of the memory, however well it is packed: %s', async ([, element]) => {
    const packed = gzipSync(osc(`<create>${Array.from({ length: 60 }, (_, i) => element(i)).join('')}</create>`))
    await expect(readChanges(bytesSource(packed), { memoryBytes: 2 ** 20 })).rejects.toMatchObject({
      code: 'OSM_TOO_LARGE',
      message: expect.stringContaining('memory') as string,
    })
    await readChanges(bytesSource(packed), { memoryBytes: 2 ** 23 })
  })
})

test('of a change file that covers more than the extract, what lies outside counts where it belongs to what is inside', async () => {
  const node = (id: number, lon: number, tags = {}): OsmElement => ({ type: 'node', id, lon, lat: 48, tags })
  const memory = await imported([node(1, 11), node(2, 11.1), { type: 'way', id: 1, refs: [1, 2], tags: { highway: 'service' } }], null) // prettier-ignore
  const before = contentsOf(memory)
  const xml = (id: number, lon: number) => `<node id="${id}" version="1" lon="${lon}" lat="48"/>`
  const way = (id: number, ...refs: number[]) =>
    `<way id="${id}">${refs.map((ref) => `<nd ref="${ref}"/>`).join('')}</way>`
  const far = `<create>${xml(9, 30)}${xml(10, 31)}${way(9, 9, 10)}</create><modify>${xml(11, 30)}${way(12, 77)}</modify><delete><node id="13"/></delete>`
  const relation = `<relation id="5"><member type="way" ref="9" role=""/><tag k="type" v="multipolygon"/></relation>`
  const extent = [[10, 47, 12, 49]] as const
  await update(memory, `<osmChange>${far}<create>${relation}</create></osmChange>`, null, extent)
  expect(contentsOf(memory)).toEqual(before)
  // A way of the extract leads out of it, and a relation has members that nothing else uses.
  const joined = relation.replace('<tag', '<member type="way" ref="1" role=""/><tag')
  const out = `<create>${xml(9, 30)}${xml(10, 31)}${way(9, 9, 10)}${xml(20, 40)}${joined}</create><modify>${way(1, 1, 2, 10)}</modify>`
  const plan = await update(memory, `<osmChange>${out}</osmChange>`, null, extent)
  expect(plan.affected.node).toEqual(new Set([9, 10]))
  expect([plan.affected.way, plan.affected.relation]).toEqual([new Set([1, 9]), new Set([5])])
  expect(memory.rows.get('streets W 1')).toBeUndefined()
})

test('an extract that is not sorted, holds elements twice or has locations on ways is not kept for updates', async () => {
  const nodes: OsmElement[] = [1, 2].map((id) => ({ type: 'node', id, lon: 11 + id, lat: 48 }))
  await expect(imported(nodes.toReversed(), null)).rejects.toMatchObject({ code: 'OSM_NOT_UPDATABLE' })
  await expect(imported([...nodes, nodes[1]!], null)).rejects.toMatchObject({ code: 'OSM_NOT_UPDATABLE' })
  const located = '<osm version="0.6"><way id="1"><nd ref="1" lon="1" lat="1"/></way></osm>'
  const recorder = new PageRecorder(await openOsm(bytesSource(Buffer.from(located))), async () => {})
  await expect(recorder.read(() => {})).rejects.toMatchObject({ code: 'OSM_NOT_UPDATABLE' })
})
