import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bytesSource, PbfReader, type OsmReader } from '@terrane/osm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryBudget } from './memory-budget.ts'
import type { OsmImportSettings } from './settings.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-room-'))
})
afterAll(() => rm(folder, { recursive: true }))

const signal = new AbortController().signal
const MEMORY = 100 * 2 ** 20

function roomFor(nodes: number | null, settings: { maxNodes?: number; memoryBytes?: number | null } = {}) {
  const reader: OsmReader = new PbfReader(bytesSource(new Uint8Array()))
  reader.estimateNodes = () => Promise.resolve(nodes)
  const all = { maxNodes: Infinity, memoryBytes: MEMORY, ...settings }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is asked for
  return memoryBudget(reader, all as OsmImportSettings, folder, signal)
}

test('a file that fits into memory or on the disk has room', async () => {
  expect(await roomFor(1000)).toEqual({ maxNodes: Infinity, expectedNodes: 1000, memoryBytes: MEMORY, folder })
  expect(await roomFor(1e7)).toMatchObject({ expectedNodes: 1e7 })
  expect(await roomFor(null)).toMatchObject({ expectedNodes: 0 })
})

test('memory is that of the setting, or a half of what is free', async () => {
  const before = process.availableMemory()
  const { memoryBytes } = await roomFor(1000, { memoryBytes: null })
  expect(memoryBytes / before).toBeGreaterThan(0.25)
  expect(memoryBytes / before).toBeLessThan(0.75)
})

test('a file that fits nowhere is refused with what it needs, what is free, where, and what to do', async () => {
  const nodes = 1e15
  const refused = await roomFor(nodes).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'DISK_FULL' })
  const { message, hint } = refused as { message: string; hint: string }
  expect(message).toMatch(
    new RegExp(`: ${16 * nodes} bytes are needed, \\d+ bytes are free, the folder is ${dirname(folder)}$`),
  )
  expect(hint).toMatch(
    /^About 1000000000000000 nodes do not fit into 104 MB of memory\..*TERRANE_WORK_DIR.*TERRANE_OSM_MEMORY_MB\.$/,
  )
  expect(await readdir(folder)).toEqual([])
})

test('the limit of the operator comes first', async () => {
  await expect(roomFor(1001, { maxNodes: 1000 })).rejects.toMatchObject({ code: 'OSM_TOO_LARGE' })
  expect(await roomFor(1000, { maxNodes: 1000 })).toMatchObject({ expectedNodes: 1000 })
})
