import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch } from '@terrane/service'
import { STAC_CASES, gdalPython, serveFiles, stacFiles, stackByGdal, type StacCase } from '@terrane/testing/stac-items'
import { openFileSource, openGeoTiff, readWindow } from '@terrane/tiling/raster'
import { describe, expect, test } from 'vitest'
import { openSource } from '../../src/jobs/create-geo-embeddings/scenes/open-source.ts'
import { rastersOfStac } from '../../src/jobs/create-geo-embeddings/scenes/stac-sources.ts'
import { sourceOf } from '../../src/jobs/create-geo-embeddings/source.ts'
import type { JobContext } from '../../src/jobs/task.ts'

const python = gdalPython()

test.skipIf(python)('SKIPPED: no Python with GDAL and NumPy (GDAL_PYTHON)', () => {
  expect(python).toBe(null)
})

/** The raster that a job makes of an item of a case. */
async function stackByJob({ item, assets, mask }: StacCase, host: string, workdir: string) {
  const signal = new AbortController().signal
  const fetch = createGuardedFetch({ allowHosts: [host] })
  const project = { store: null } as unknown as JobContext['project']
  const items = JSON.parse(JSON.stringify(item).replaceAll('https://FILES', `http://${host}`)) as Record<
    string,
    unknown
  >
  const stac = { items, assets: [...assets], ...(mask && { maskAsset: mask.asset }) }
  const [found] = (await rastersOfStac(stac, { project, dataRoots: [], remote: null, channels: [] }))!
  const context = { project, fetch, signal, workdir, progress() {} } as unknown as JobContext
  const { path, warnings = [] } = await openSource(sourceOf(found!.own)!, context, { dataRoots: [], maxBytes: 0 })
  using source = openFileSource(path)
  const raster = openGeoTiff(source)
  const rect = { x: 0, y: 0, width: raster.width, height: raster.height }
  const bands = []
  for (let band = 0; band < raster.samplesPerPixel; band++) {
    bands.push(await readWindow(source, raster, { ...rect, band }))
  }
  const mirror = raster.mask && { ...raster, ...raster.mask, nodata: null }
  const shown = mirror && (await readWindow(source, mirror, { ...rect, band: 0 }))
  return { raster, bands, shown, warnings }
}

describe.runIf(python)('items of public catalogues become what gdalwarp makes of their files', () => {
  test.each(STAC_CASES.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    await using server = await serveFiles()
    const files = await stacFiles(one)
    for (const [name, bytes] of files) server.files.set(`/${name}`, bytes)
    const gdal = stackByGdal(python!, one, files)
    const workdir = await mkdtemp(join(tmpdir(), 'terrane-stac-'))
    try {
      const { raster, bands, shown, warnings } = await stackByJob(one, server.host, workdir)
      expect({ width: raster.width, height: raster.height, epsg: raster.epsg, bands: bands.length }).toEqual({
        width: gdal.width,
        height: gdal.height,
        epsg: gdal.epsg,
        bands: one.bands.length,
      })
      expect(raster.affine!.map((value, i) => value - gdal.affine[i]!)).toEqual(
        gdal.affine.map(() => expect.closeTo(0, 6) as number),
      )
      expect(warnings).toEqual([])
      const { nodata } = raster
      const isShown = (i: number) => shown?.[i] !== 0 && (nodata === null || bands[0]![i] !== nodata)
      const isValid = (i: number) => gdal.masked[i] === 0 && gdal.bands.every(({ valid }) => valid[i] === 1)
      const count = gdal.width * gdal.height
      const pixels = Array.from({ length: count }, (_v, i) => i)
      // One file is read as it is, each band with its own validity.
      const isOneFile = new Set(one.bands.map(({ file }) => file)).size === 1
      if (!isOneFile) expect(pixels.filter((i) => isShown(i) !== isValid(i))).toEqual([])
      for (const [band, wanted] of gdal.bands.entries()) {
        const off = (i: number) => Math.abs((bands[band]![i] as number) - wanted.values[i]!)
        const compared = isOneFile ? pixels.filter((i) => wanted.valid[i] === 1) : pixels.filter(isValid)
        expect(compared.length).toBeGreaterThan(count / 5)
        const worst = Math.max(...compared.map(off))
        expect({ band, worst }).toEqual({ band, worst: wanted.resampled ? expect.toSatisfy((d) => d <= 1) : 0 })
        const said = one.bands[band]!
        const { scale, offset } = raster.bands[band]!
        expect({ scale, offset }).toEqual({
          scale: said.scale ?? wanted.scale ?? 1,
          offset: said.offset ?? wanted.offset ?? 0,
        })
      }
    } finally {
      await rm(workdir, { recursive: true })
    }
  })
})
