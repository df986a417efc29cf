import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { zip } from './zip-writer.ts'

/** The used part of gdal3.js, which makes the fixtures of binary formats from GeoJSON. */
interface Gdal {
  open(path: string): Promise<{ datasets: object[] }>
  ogr2ogr(dataset: object, options: readonly string[], name: string): Promise<unknown>
  close(dataset: object): Promise<void>
}

let made = 0
const quiet = () => {}
let gdal: Promise<{ gdal: Gdal; folder: string }> | null = null

async function load(): Promise<{ gdal: Gdal; folder: string }> {
  const require = createRequire(import.meta.url)
  const start = require('gdal3.js/node.js') as (options: object) => Promise<Gdal>
  const folder = await mkdtemp(join(tmpdir(), 'terrane-formats-'))
  const path = relative('.', dirname(require.resolve('gdal3.js')))
  return { folder, gdal: await start({ path, dest: folder, useWorker: false, logHandler: quiet, errorHandler: quiet }) }
}

/** Deletes the files of this process's conversions. */
export async function removeFormats(): Promise<void> {
  if (gdal) await rm((await gdal).folder, { recursive: true, force: true })
}

/** GeoJSON text in another format: one file's bytes, or those of a zip of all files. */
export async function convertTo(
  format: string,
  geojson: string,
  options: readonly string[] = [],
  without = '(none)',
): Promise<Buffer> {
  const kept = (await filesOf(format, geojson, options)).filter((file) => !file.name.endsWith(without))
  return kept.length === 1 ? kept[0]!.data : zip(kept)
}

/** The files that GeoJSON text becomes in another format. */
export async function filesOf(
  format: string,
  geojson: string,
  options: readonly string[] = [],
): Promise<{ name: string; data: Buffer }[]> {
  gdal ??= load()
  const { gdal: engine, folder } = await gdal
  const name = `things${++made}`
  const input = join(folder, 'input.geojson')
  // Another file of tests in this process may have removed it.
  await mkdir(folder, { recursive: true })
  await writeFile(input, geojson)
  const before = new Set(await readdir(folder))
  const { datasets } = await engine.open(relative('.', input))
  await engine.ogr2ogr(datasets[0]!, ['-f', format, '-nln', name, ...options], name)
  await engine.close(datasets[0]!)
  const written = (await readdir(folder)).filter((file) => !before.has(file)).toSorted()
  const paths = await Promise.all(written.map((file) => within(folder, file)))
  const files = await Promise.all(
    paths.flat().map(async (file) => ({ name: file, data: await readFile(join(folder, file)) })),
  )
  for (const file of written) await rm(join(folder, file), { recursive: true })
  return files
}

/** One file, or the files of a folder. */
async function within(folder: string, name: string): Promise<string[]> {
  if (!(await stat(join(folder, name))).isDirectory()) return [name]
  return (await readdir(join(folder, name))).toSorted().map((file) => `${name}/${file}`)
}
