import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Table, Utf8, tableToIPC, vectorFromArray } from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openArrow } from './arrow.ts'
import { openParquet } from './parquet.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-untold-'))
})
afterAll(() => rm(folder, { recursive: true }))

type Texts = readonly (string | null)[]

const FORMATS = {
  Parquet: {
    open: openParquet,
    bytes: (groups: readonly Texts[]) =>
      new Uint8Array(
        parquetWriteBuffer({
          columnData: [{ name: 'outline', data: groups.flat(), type: 'STRING' }],
          rowGroupSize: groups.map((group) => group.length),
        }),
      ),
  },
  Arrow: {
    open: openArrow,
    bytes: ([first, ...others]: readonly Texts[]) => {
      const tableOf = (texts: Texts) => new Table({ outline: vectorFromArray(texts, new Utf8()) })
      return tableToIPC(tableOf(first!).concat(...others.map(tableOf)))
    },
  },
} as const

/**
 * A reader's result for a column of texts in groups of rows: its fields, the rows with geometries, and its warnings.
 */
async function read(format: keyof typeof FORMATS, ...groups: readonly Texts[]) {
  const { open, bytes } = FORMATS[format]
  const path = join(folder, 'table')
  await writeFile(path, bytes(groups))
  const reader = await open({ path, srid: 4326 })
  const { fields, hasGeometry, geometryTypes, rows } = reader.layers[0]!
  const places: boolean[] = []
  const texts: unknown[] = []
  for await (const batch of reader.read(0)) {
    for (let i = 0; i < batch.rows; i++) {
      places.push(batch.geometryEnds[i]! > (i === 0 ? 0 : batch.geometryEnds[i - 1]!))
      texts.push(batch.columns[0]?.[i] ?? null)
    }
  }
  const names = fields.map(({ name, type }) => `${name} ${type}`)
  return { names, hasGeometry, geometryTypes, rows, places, texts, warnings: reader.takeWarnings() }
}

const formats = Object.keys(FORMATS) as (keyof typeof FORMATS)[]

test.each(formats)(
  'texts of %s that are no geometry among later ones are counted, and their column stays',
  async (format) => {
    const points = Array.from({ length: 250 }, (_, i): string | null => `POINT(${i % 90} 1)`)
    const whole = await read(format, [...points, null, ' '])
    expect(whole).toMatchObject({ names: [], hasGeometry: true, geometryTypes: [1], rows: 252, warnings: [] })
    const { names, places, texts, warnings } = await read(format, [...points, 'see annex', null])
    expect(names).toEqual(['outline text'])
    expect([places.filter(Boolean).length, places[249], places[250]]).toEqual([250, true, false])
    expect([texts[0], texts[250], texts[251]]).toEqual(['POINT(0 1)', 'see annex', null])
    expect(warnings).toMatchObject([{ code: 'GEOMETRY_UNREADABLE', count: 1, examples: [251] }])
  },
)

test.each(formats)('a null, or a group of rows with nothing but nulls, hides no geometries of %s', async (format) => {
  const nulls = Array.from({ length: 300 }, () => null)
  for (const groups of [[[null, 'POINT(1 2)']], [nulls, ['POINT(1 2)', null]]]) {
    const { names, hasGeometry, places, warnings } = await read(format, ...groups)
    expect({ names, hasGeometry, warnings }).toEqual({ names: [], hasGeometry: true, warnings: [] })
    expect(places.filter(Boolean).length).toBe(1)
  }
})
