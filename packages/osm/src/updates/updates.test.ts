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
