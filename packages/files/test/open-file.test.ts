import { existsSync } from 'node:fs'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zip } from '@terrane/testing/files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFile } from '../src/open-file.ts'
import { readersHere } from '../src/testing/read-here.ts'
import type { MakeEncoder } from '../src/feature-stream.ts'
import { Warnings } from '@terrane/core/errors'

const TOWNS = 'name,lon,lat\nUlm,9.99,48.4\nBern,7.45,46.95\n'

let folder: string
let made = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'terrane-open-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function saved(bytes: string | Buffer): Promise<string> {
  const path = join(folder, String(++made))
  await writeFile(path, bytes)
  return path
}

test('a file of UTF-16 is read and stays as it is, and the temporary folder ends with it', async () => {
  const bytes = Buffer.from(`\ufeff${TOWNS}`, 'utf16le')
  const path = await saved(bytes)
  const file = await openFile(path, { startReader: readersHere() })
  const [unpacked] = file.files
  expect([file.formats, file.bytes, existsSync(unpacked!)]).toEqual([['CSV'], TOWNS.length, true])
  const names: unknown[] = []
  for await (const { layer, batch } of file.read()) names.push(layer, ...batch.columns[0]!)
  expect(names).toEqual([0, 'Ulm', 'Bern'])
  await file[Symbol.asyncDispose]()
  expect([existsSync(unpacked!), await readFile(path)]).toEqual([false, bytes])
})

test('a function that writes the bytes is a source, in a folder of the caller', async () => {
  const workdir = join(folder, 'work')
  await using file = await openFile((path) => writeFile(path, TOWNS), {
    workdir: await mkdtemp(`${workdir}-`),
    startReader: readersHere(),
  })
  expect(file.layers).toMatchObject([{ rows: 2, hasGeometry: true, srid: 4326 }])
})

test('maxBytes bounds a plain file of any source', async () => {
  const tooLarge = { code: 'FILE_TOO_LARGE', message: `The file has ${TOWNS.length} bytes; maxBytes allows 10` }
  const options = { maxBytes: 10, startReader: readersHere() }
  await expect(openFile(await saved(TOWNS), options)).rejects.toMatchObject(tooLarge)
  await expect(openFile((path) => writeFile(path, TOWNS), options)).rejects.toMatchObject(tooLarge)
})

test('a file that is refused leaves no temporary folder', async () => {
  const before = new Set(await readdir(tmpdir()))
  const path = await saved('no file of features')
  await expect(openFile(path, { startReader: readersHere() })).rejects.toMatchObject({ code: 'FORMAT_UNKNOWN' })
  const left = (await readdir(tmpdir())).filter((name) => name.startsWith('terrane-files-') && !before.has(name))
  expect(left).toEqual([])
})

test('files of an archive that are left out come before other warnings, and notes of the caller with them', async () => {
  const entries = [
    { name: 'towns.csv', data: Buffer.from(TOWNS) },
    { name: 'picture.png', data: Buffer.from('\x89PNG\r\n\x1a\n') },
  ]
  await using file = await openFile(await saved(zip(entries)), {
    startReader: readersHere(),
    csv: { wkt: 'name' },
    encoding: 'utf-8',
  }).catch((error: unknown) => Promise.reject(error as Error))
  file.notes.add('OF_THE_CALLER', 'A note.')
  expect(file.warnings.map(({ code }) => code).slice(0, 2)).toEqual(['FILES_SKIPPED', 'OF_THE_CALLER'])
})

test('a file without any row says so, and empty layers beside others are no news', async () => {
  const gpx = (points: string) => `<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1">${points}</gpx>`
  const codesOf = async (text: string) => {
    await using file = await openFile(await saved(text), { startReader: readersHere() })
    return file.warnings.map(({ code }) => code)
  }
  expect(await codesOf(gpx('<wpt lat="48.4" lon="9.99"/>'))).not.toContain('LAYERS_EMPTY')
  expect(await codesOf(gpx(''))).toContain('LAYERS_EMPTY')
})

test('an encoder of the caller makes bytes of rows where they are read, by a plan for each layer', async () => {
  const makeEncoder: MakeEncoder = (plan, send) => {
    const { field } = plan as { field: number }
    const warnings = new Warnings()
    let rows = 0
    return {
      isComplete: false,
      warnings,
      add(batch) {
        rows += batch.rows
        send({ rows: batch.rows }, Buffer.from(batch.columns[field]!.join(';')))
      },
      flush: () => warnings.add('COUNTED', 'Rows were counted.', rows),
    }
  }
  await using file = await openFile(await saved(TOWNS), { startReader: readersHere(makeEncoder) })
  const encoded: unknown[] = []
  for await (const { layer, note, chunks, warnings } of file.encode([{ layer: 0, plan: { field: 0 } }])) {
    encoded.push([layer, note, Buffer.concat(chunks).toString(), warnings.map(({ code, count }) => [code, count])])
  }
  expect(encoded).toEqual([
    [0, { rows: 2 }, 'Ulm;Bern', []],
    [0, null, '', [['COUNTED', 2]]],
  ])
})
