import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  NATIVE,
  PACKAGES,
  folderForBundle,
  installPackages,
  installTools,
  node22,
  readmeBlocks,
  run,
} from './support/stranger.ts'

// An outside user's steps: install tarballs into an empty folder, compile against them, run and bundle.
const tools = installTools()
const folder = tools === null ? null : installPackages()
if (folder === null) console.warn('SKIPPED: the packages as a stranger has them; the npm registry cannot be reached')

const LINES = [
  'core 8193',
  'contracts 256',
  'osm true',
  'files 4',
  'overture 2 PARQUET_INVALID',
  'raster 2',
  'vector 1 features in 12 tiles of zooms 0 to 10',
  'route true',
  'hierarchy true',
  'picture PNG',
  'archive 1',
  'parquet 1 true',
  'regions 1',
  'bundler hello world',
  'visits 1',
]

/** Sums over tiles and values of all batches, because the number of batches depends on the number of threads. */
function sums(printed: string): number[] {
  const batches = printed
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  return [0, 1].map((column) => batches.reduce((sum, batch) => sum + (batch[column] ?? 0), 0))
}

describe.skipIf(folder === null)('packages from tarballs in an empty folder', () => {
  const home = folder ?? ''
  const bin = (name: string): string => join(tools ?? '', name)
  const nodes = [process.execPath, ...(tools === null ? [] : [node22()])]

  beforeAll(async () => {
    mkdirSync(join(home, 'src'), { recursive: true })
    for (const name of PACKAGES) {
      readmeBlocks(name).forEach((code, i) => writeFileSync(join(home, 'src', `${name}-${i}.ts`), code))
    }
    await cp(join(import.meta.dirname, 'all.ts.txt'), join(home, 'src/all.ts'))
    writeFileSync(join(home, 'features.mjs'), FEATURES)
    const city = buildCity()
    writeFileSync(join(home, 'town.osm.pbf'), Buffer.concat([...writePbf(city.elements, city.header)]))
    const image = textureImage({ width: 300, height: 200, bands: 3, seed: 1, type: 'uint8', noise: 5 })
    const georeference = { affine: [500_000, 10, 0, 5_000_000, 0, -10], epsg: 32_632 } as const
    writeFileSync(join(home, 'scene.tif'), await writeGeoTiff(image, { type: 'uint8', color: 'rgb', georeference }))
  })
  afterAll(() => rmSync(home, { recursive: true, force: true }))

  test('hold what is built and nothing else', () => {
    for (const name of PACKAGES) {
      const root = join(home, 'node_modules/@terrane', name)
      expect(readdirSync(root).toSorted(), name).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
      const files = readdirSync(join(root, 'dist'), { recursive: true }).map(String)
      expect(
        files.filter((file) => /(?:\.test\.|bench|\.tsbuildinfo|(?<!\.d)\.ts$)/.test(file)),
        name,
      ).toEqual([])
    }
  })

  test.each(PACKAGES)('%s passes publint and are-the-types-wrong', async (name) => {
    const tarball = join(
      home,
      readdirSync(home).find((file) => file.startsWith(`terrane-${name}-`))!,
    )
    expect(await run(bin('publint'), ['run', tarball, '--strict'], home)).toContain('All good!')
    // The command fails for a problem in any resolution mode that is not ignored.
    expect(await run(bin('attw'), [tarball, '--profile', 'esm-only'], home)).toContain('🟢 (ESM)')
  })

  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compile under --strict without an error, module %s', async (module, resolution) => {
    const out = resolution === 'nodenext' ? ['--outDir', 'out'] : ['--noEmit']
    // The examples use top-level await, `using` and Node's files. These are all the settings that a consumer needs.
    const flags = ['--strict', '--target', 'es2022', '--lib', 'es2024,esnext.disposable', '--skipLibCheck', 'false']
    const args = [...flags, '--module', module, '--moduleResolution', resolution, ...out]
    const files = readdirSync(join(home, 'src')).map((file) => join('src', file))
    expect(await run(bin('tsc'), [...args, ...files], home)).toBe('')
  })

  test.each(nodes)('run by %s', async (node) => {
    expect((await run(node, ['out/all.js', home], home)).trim().split('\n')).toEqual(LINES)
    expect(sums(await run(node, ['out/embeddings-0.js', join(home, 'scene.tif')], home))).toEqual([2, 128])
    expect(await run(node, ['out/embeddings-1.js'], home)).toMatch(/^\d+ 725 /)
  })

  test.each(['esbuild', 'vite'])('run from a bundle of %s, which carries threads and texts', async (bundler) => {
    const bundle = join(home, `by-${bundler}`)
    if (bundler === 'esbuild') {
      const external = NATIVE.map((name) => `--external:${name}`)
      const flags = ['--bundle', '--platform=node', '--format=esm', '--target=node22', '--splitting']
      await run(
        bin('esbuild'),
        ['src/all.ts', 'src/embeddings-0.ts', `--outdir=${bundle}`, ...flags, ...external],
        home,
      )
    } else {
      writeFileSync(join(home, 'vite.config.mjs'), viteConfig(bundle))
      await run(bin('vite'), ['build'], home)
    }
    const elsewhere = folderForBundle(home, bundle)
    for (const node of nodes) {
      expect((await run(node, ['all.js', home], elsewhere)).trim().split('\n')).toEqual(LINES)
      expect(sums(await run(node, ['embeddings-0.js', join(home, 'scene.tif')], elsewhere))).toEqual([2, 128])
    }
    rmSync(elsewhere, { recursive: true })
  })

  test('name no variable of an app', async () => {
    for (const name of PACKAGES) {
      const root = join(home, 'node_modules/@terrane', name, 'dist')
      for (const file of readdirSync(root, { recursive: true }).map(String)) {
        if (!/\.(?:js|d\.ts)$/.test(file)) continue
        const found = /\b(?:TERRANE|GEOEMBEDDINGS|SRAI|OGR2OGR|OSM|OVERTURE)_MAX_[A-Z_]+|\bTERRANE_[A-Z_]+/.exec(
          await readFile(join(root, file), 'utf8'),
        )
        expect(found?.[0], join(name, file)).toBeUndefined()
      }
    }
  })
})

test.skipIf(tools === null)(
  'the types of the client are those of the document, which Redocly finds no error in',
  async () => {
    const made = join(mkdtempSync(join(tmpdir(), 'terrane-client-')), 'worker-api.ts')
    const root = join(import.meta.dirname, '../../../..')
    await run(process.execPath, [join(root, 'infra/packaging/src/generate-client.ts'), made], root)
    expect(await readFile(made, 'utf8')).toBe(
      await readFile(join(root, 'packages/client/openapi/worker-api.ts'), 'utf8'),
    )
    const document = join(root, 'packages/client/openapi/worker.json')
    const linted = await run(
      join(tools ?? '', 'redocly'),
      ['lint', document, '--extends', 'recommended', '--format', 'json'],
      root,
    )
    expect(JSON.parse(linted)).toMatchObject({ totals: { errors: 0 } })
  },
)

const FEATURES = `export function* openFeatures() {
  yield { tags: { amenity: 'cafe' }, geometry: { type: 'Point', coordinates: [9.195, 45.4625] } }
}
`

function viteConfig(outDir: string): string {
  return `export default {
  logLevel: 'warn',
  build: {
    ssr: true,
    outDir: ${JSON.stringify(outDir)},
    target: 'node22',
    rollupOptions: { input: { all: 'src/all.ts', 'embeddings-0': 'src/embeddings-0.ts' }, external: ${JSON.stringify(NATIVE)} },
  },
  ssr: { noExternal: true, external: ${JSON.stringify(NATIVE)} },
}
`
}
