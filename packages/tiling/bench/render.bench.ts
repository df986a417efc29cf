// Rendering of tiles on one core, compared with GDAL's warp and PNG encoder: CPU time in alternating runs, bytes read
// compared with bytes needed, and time of one tile with decoded blocks. Views are random, over the rasters of
// TERRANE_SHARED and a generated one.
//
// GDAL_PYTHON is a command that runs Python with GDAL's bindings (python3 when absent); without it only this package is
// measured.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { TerraneError, seededRandom } from '@terrane/core'
import { textureImage, writeGeoTiff } from '@terrane/testing/geotiff'
import { openFileSource, openRenderer, tileView, type ByteSource, type RasterRenderer } from '../src/raster/index.ts'
import { encodePicture } from '../src/raster/render/encode.ts'

const SIZE = 256
const VIEWS = 12
const ROUNDS = 5
const RESAMPLINGS = ['nearest', 'bilinear'] as const
const GOALS = { speed: 1, bytes: 1.2, p95Ms: 30 }

interface Wanted {
  readonly file: string
  readonly z: number
  readonly x: number
  readonly y: number
  readonly overview: number
  /** Value range of each displayed band, for both programs. */
  readonly bands: readonly number[]
  readonly rescale: readonly (readonly [number, number])[]
}

const folder = mkdtempSync(join(tmpdir(), 'terrane-bench-'))
const shared = join(process.env['TERRANE_SHARED'] ?? join(import.meta.dirname, '../../../../shared'), 'data')

/** Warps and encodes each view; prints CPU seconds of the whole, and the views that failed. */
const GDAL = `
import json, sys, time
from osgeo import gdal
gdal.UseExceptions()
gdal.SetConfigOption('GDAL_NUM_THREADS', '1')
EDGE = 20037508.342789244
views, error = json.load(sys.stdin), float(sys.argv[1])
opened = {}
def draw(v):
    span = 2 * EDGE / 2 ** v['z']
    left, top = -EDGE + v['x'] * span, EDGE - v['y'] * span
    source = opened.get(v['file']) or opened.setdefault(v['file'], gdal.Open(v['file']))
    level = 'NONE' if v['overview'] == 0 else str(v['overview'] - 1)
    options = ['-et', str(error), '-ovr', level, '-wo', 'XSCALE=1', '-wo', 'YSCALE=1', '-r', v['resampling'], '-of', 'MEM']
    options += ['-t_srs', 'EPSG:3857', '-te', str(left), str(top - span), str(left + span), str(top), '-ts', '${SIZE}', '${SIZE}']
    if not any(source.GetRasterBand(i + 1).GetColorInterpretation() == gdal.GCI_AlphaBand for i in range(source.RasterCount)):
        options.append('-dstalpha')
    warped = gdal.Warp('', source, options=options)
    bands = [b for b in v['bands']] + [warped.RasterCount]
    scale = [[low, high, 0, 255] for low, high in v['rescale']] + [[0, 255, 0, 255]]
    gdal.Translate('/vsimem/tile.png', warped, format='PNG', bandList=bands, outputType=gdal.GDT_Byte, scaleParams=scale, creationOptions=['ZLEVEL=1'])
draw(views[0])
failed = []
start = time.process_time()
for i, v in enumerate(views):
    try: draw(v)
    except RuntimeError: failed.append(i)
print(json.dumps({'seconds': time.process_time() - start, 'failed': failed}))
`

const python = [process.env['GDAL_PYTHON'] ?? 'python3', '/usr/bin/python3']
  .map((command) => command.split(' '))
  .find(([program = '', ...args]) => spawnSync(program, [...args, '-c', 'from osgeo import gdal']).status === 0)

function gdalSeconds(views: readonly object[], tolerance: number): { seconds: number; failed: readonly number[] } {
  const [program = '', ...args] = python ?? []
  const { stdout, stderr, status } = spawnSync(program, [...args, '-c', GDAL, String(tolerance)], {
    input: JSON.stringify(views),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { seconds: number; failed: readonly number[] }
}

function open(file: string, onPlan?: (bytes: number) => void, onRead?: (bytes: number) => void): RasterRenderer | null {
  try {
    const file_ = openFileSource(file)
    const source: ByteSource = {
      size: file_.size,
      read: (offset, length) => {
        const bytes = file_.read(offset, length)
        onRead?.(bytes.byteLength)
        return bytes
      },
    }
    return openRenderer(source, { onPlan: (spans) => onPlan?.(spans.reduce((sum, { length }) => sum + length, 0)) })
  } catch (error) {
    if (error instanceof TerraneError) return null
    throw error
  }
}

async function viewsOf(file: string): Promise<Wanted[]> {
  const renderer = open(file)
  if (renderer === null || renderer.raster.palette !== null) return []
  const { bounds, minzoom, maxzoom, raster, defaultBands: bands } = renderer
  const rescale = await renderer.limits(bands).catch(() => null)
  if (rescale === null) return []
  const random = seededRandom(file.length * 31 + raster.width)
  const [west, south, east, north] = bounds
  const found: Wanted[] = []
  for (let i = 0; i < 10 * VIEWS && found.length < VIEWS; i++) {
    const z = Math.min(22, minzoom + Math.floor(random() * (maxzoom + 2 - minzoom)))
    const n = 2 ** z
    const lng = ((west + random() * ((east > west ? east : east + 360) - west) + 540) % 360) - 180
    const lat = Math.max(-85, Math.min(85, south + random() * (north - south)))
    const x = Math.min(n - 1, Math.floor(((lng + 180) / 360) * n))
    const down = 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)
    const y = Math.min(n - 1, Math.max(0, Math.floor(down * n)))
    const view = tileView(z, x, y, SIZE)
    const picture = await renderer.render(view, { rescale }).catch(() => null)
    if (picture !== null) found.push({ file, z, x, y, overview: renderer.levelOf(view), bands, rescale })
  }
  return found
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

async function draw(renderer: RasterRenderer, view: Wanted, resampling: (typeof RESAMPLINGS)[number]): Promise<number> {
  const picture = await renderer.render(tileView(view.z, view.x, view.y, SIZE), { rescale: view.rescale, resampling })
  if (picture === null) throw new Error('a view that was drawn shows nothing')
  return (await encodePicture(picture, 'png')).byteLength
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN

sharp.concurrency(1)
sharp.cache(false)
const made = join(folder, 'made.tif')
const image = textureImage({ width: 2048, height: 2048, bands: 3, seed: 1, type: 'uint8', noise: 9 })
const georeference = { affine: [400_000, 1, 0, 5_600_000, 0, -1], epsg: 32_633 } as const
writeFileSync(
  made,
  await writeGeoTiff(image, { type: 'uint8', compression: 'deflate', predictor: 2, overviews: 3, georeference }),
)
const folders = ['geotiff', 'geotiff-synthetic'].map((name) => join(shared, name)).filter(existsSync)
const files = [made, ...folders.flatMap((name) => readdirSync(name).map((file) => join(name, file)))]
let views = (await Promise.all(files.map(viewsOf))).flat()
console.log(
  `${views.length} views of ${new Set(views.map(({ file }) => file)).size} of ${files.length} files, ${SIZE} px`,
)

for (const resampling of RESAMPLINGS) {
  const asked = () => views.map((view) => ({ ...view, resampling }))
  if (python) {
    const { failed } = gdalSeconds(asked(), 0)
    views = views.filter((_, i) => !failed.includes(i))
  }
  const renderers = new Map(views.map(({ file }) => [file, open(file) as RasterRenderer]))
  const pass = async (times?: number[]) => {
    let bytes = 0
    for (const view of views) {
      const begun = performance.now()
      bytes += await draw(renderers.get(view.file) as RasterRenderer, view, resampling)
      times?.push(performance.now() - begun)
    }
    if (bytes === 0) throw new Error('nothing was encoded')
  }
  await pass()
  const rounds = { ours: [] as number[], exact: [] as number[], usual: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    // Opened anew in each round, as in GDAL's process; both keep decoded blocks within a round.
    for (const { file } of views) renderers.set(file, open(file) as RasterRenderer)
    const begun = cpuSeconds()
    await pass()
    rounds.ours.push(cpuSeconds() - begun)
    if (!python) continue
    rounds.exact.push(gdalSeconds(asked(), 0).seconds)
    rounds.usual.push(gdalSeconds(asked(), 0.125).seconds)
  }
  const perTile = (seconds: readonly number[]) =>
    (1000 *
      at(
        seconds.toSorted((a, b) => a - b),
        0.5,
      )) /
    views.length
  const ratios = (peer: readonly number[]) =>
    at(
      peer.map((seconds, i) => seconds / (rounds.ours[i] ?? Number.NaN)).toSorted((a, b) => a - b),
      0.5,
    )
  console.log(`\n${resampling}: ${perTile(rounds.ours).toFixed(2)} CPU-ms a tile with its PNG`)
  if (python) {
    for (const [name, peer] of [
      ['exact transform', rounds.exact],
      ['its usual tolerance', rounds.usual],
    ] as const) {
      const ratio = ratios(peer)
      const word = ratio >= GOALS.speed ? 'reached' : 'missed'
      console.log(
        `  GDAL, ${name}: ${perTile(peer).toFixed(2)} CPU-ms, ratio ${ratio.toFixed(2)} (goal ${GOALS.speed}: ${word})`,
      )
    }
  } else console.log('  SKIPPED: no Python with GDAL (GDAL_PYTHON)')
  const warm: number[] = []
  for (let i = 0; i < 3; i++) await pass(warm)
  warm.sort((a, b) => a - b)
  console.log(
    `  warm: median ${at(warm, 0.5).toFixed(1)} ms, p95 ${at(warm, 0.95).toFixed(1)} ms (goal ${GOALS.p95Ms})`,
  )
}

let [needed, read, most] = [0, 0, 0]
for (const view of views) {
  let [own, taken] = [0, 0]
  let counts = false
  const renderer = open(
    view.file,
    (bytes) => (own += bytes),
    (bytes) => (taken += counts ? bytes : 0),
  ) as RasterRenderer
  counts = true
  await draw(renderer, view, 'bilinear')
  needed += own
  read += taken
  if (own > 0) most = Math.max(most, taken / own)
}
console.log(
  `\nbytes: ${read} read of ${needed} needed, ${(read / needed).toFixed(3)} × (goal ${GOALS.bytes}), one view at most ${most.toFixed(2)} ×`,
)
rmSync(folder, { recursive: true, force: true })
