import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Warnings } from '@terrane/core/errors'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeFlatGeobuf, type ExportRow, type ExportSource } from '../src/index.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-signal-'))
})
afterAll(() => rm(folder, { recursive: true }))

const [BATCHES, BATCH_ROWS, TEXT_BYTES, CHUNK_BYTES] = [3, 500, 4096, 2 ** 20]
const SOURCE: ExportSource = {
  from: '',
  name: 'points',
  columns: [{ name: 'text', kind: 'text', precision: null, scale: null, scan: { sql: 'text', type: 'text' } }],
  geometry: { name: 'geom', srid: 4326, isDeclared: true, types: [1], shapes: [1] },
  estimatedRows: null,
}

function point(x: number): Uint8Array {
  const wkb = Buffer.alloc(21)
  wkb[0] = 1
  wkb.writeUInt32LE(1, 1)
  wkb.writeDoubleLE(x, 5)
  return wkb
}

async function* batches(isIndexed: boolean): AsyncGenerator<ExportRow[]> {
  for (let batch = 0; batch < BATCHES; batch++) {
    yield Array.from({ length: BATCH_ROWS }, (_, row) => ({
      values: ['t'.repeat(TEXT_BYTES)],
      geometry: row === 0 && !isIndexed ? null : point(row / 10),
    }))
  }
}

/** A signal that aborts after a number of checks. */
class AbortedAfter extends AbortController {
  looks = 0

  constructor(most: number) {
    super()
    const look = this.signal.throwIfAborted.bind(this.signal)
    this.signal.throwIfAborted = () => {
      if (++this.looks > most) this.abort()
      look()
    }
  }
}

test.each([true, false])(
  'a FlatGeobuf is written no further than a chunk after its signal; with an index: %s',
  async (isIndexed) => {
    const path = join(folder, `whole-${isIndexed}`)
    const whole = new AbortedAfter(Infinity)
    await writeFlatGeobuf(SOURCE, batches(isIndexed), { path, signal: whole.signal }, new Warnings())
    const { size } = await stat(path)
    expect(whole.looks).toBeGreaterThanOrEqual(BATCHES + Math.floor(size / CHUNK_BYTES))
    for (const most of [1, BATCHES, whole.looks - 1]) {
      const { signal } = new AbortedAfter(most)
      const cut = writeFlatGeobuf(SOURCE, batches(isIndexed), { path: `${path}-${most}`, signal }, new Warnings())
      await expect(cut, String(most)).rejects.toMatchObject({ name: 'AbortError' })
    }
    expect((await readdir(folder)).filter((name) => name.endsWith('.features'))).toEqual([])
  },
)
