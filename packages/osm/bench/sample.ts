import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { blockElements, fileSource, openOsm, writePbf } from '../src/index.ts'
import type { OsmElement } from '../src/index.ts'

const root = join(import.meta.dirname, '../../..')

/**
 * A sorted PBF of about `copies` x 19 MB below .cache, made once: renumbered copies of the real extracts in the shared
 * folder when there is one, else of seeded random walks.
 */
export async function sampleFile(copies: number): Promise<{ path: string; kind: 'real' | 'generated' }> {
  const extracts = join(process.env['TERRANE_SHARED'] ?? join(root, '../shared'), 'data/osm')
  const kind = existsSync(extracts) ? 'real' : 'generated'
  const folder = join(root, '.cache/osm')
  const path = join(folder, `sample-${kind}-${copies}.osm.pbf`)
  if (existsSync(path)) return { path, kind }
  const towns = kind === 'real' ? await readExtracts(extracts) : [randomTown(1), randomTown(2)]
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    path,
    Buffer.concat([...writePbf(renumbered(towns, copies), { optionalFeatures: ['Sort.Type_then_ID'] })]),
  )
  return { path, kind }
}

async function readExtracts(folder: string): Promise<OsmElement[][]> {
  const towns: OsmElement[][] = []
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.pbf'))) {
    const reader = await openOsm(await fileSource(join(folder, name)))
    const town: OsmElement[] = []
    await reader.read((block) => {
      for (const element of blockElements(block)) town.push(element)
    })
    towns.push(town.toSorted((a, b) => a.id - b.id))
  }
  return towns
}

function* renumbered(towns: readonly OsmElement[][], copies: number): Generator<OsmElement> {
  for (const type of ['node', 'way', 'relation'] as const) {
    for (let copy = 0; copy < copies; copy++) {
      for (const [i, town] of towns.entries()) {
        const shift = (copy * towns.length + i) * 2e10
        for (const element of town) if (element.type === type) yield shifted(element, shift)
      }
    }
  }
}

function shifted(element: OsmElement, shift: number): OsmElement {
  const id = element.id + shift
  if (element.type === 'node') return { ...element, id }
  if (element.type === 'way') return { ...element, id, refs: element.refs.map((ref) => ref + shift) }
  return { ...element, id, members: element.members.map((member) => ({ ...member, ref: member.ref + shift })) }
}

/** 100,000 random ways, a tenth of them buildings, with a few tags each. */
function randomTown(seed: number): OsmElement[] {
  const random = seededRandom(seed)
  const nodes: OsmElement[] = []
  const ways: OsmElement[] = []
  for (let id = 1; id <= 100_000; id++) {
    let [lon, lat] = [11 + random(), 48 + random()]
    const refs: number[] = []
    for (let i = 0; i < 8; i++) {
      nodes.push({ type: 'node', id: nodes.length + 1, lon: (lon += random() / 1e3), lat: (lat += random() / 1e3) })
      refs.push(nodes.length)
    }
    const tags =
      id % 10 === 0
        ? { building: 'yes', 'addr:housenumber': `${id % 200}` }
        : { highway: 'residential', name: `Street ${id % 5000}` }
    ways.push({ type: 'way', id, refs, tags })
  }
  return [...nodes, ...ways]
}
