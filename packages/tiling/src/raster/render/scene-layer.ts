import { createCrsCatalogue } from '../crs/catalogue.ts'
import { resolveCrs } from '../crs/resolve.ts'
import type { Affine, RasterInfo } from '../raster-info.ts'
import { estimateScale } from '../scale.ts'
import { planStack } from '../scene/plan-stack.ts'
import type { PlannedBand, PlannedPiece, StackPlan } from '../scene/plan-stack.ts'
import { samplesOf } from '../scene/sample-types.ts'
import type { Scene, SceneMask } from '../scene/scene.ts'
import { boxesOf, visibleRect } from './extent.ts'
import { fileLayer } from './file-layer.ts'
import type { LayerFile } from './file-layer.ts'
import { addCost, rememberLimits } from './layer.ts'
import type { FetchTogether, FileNeed, Layer, LayerChoice } from './layer.ts'
import { stepOf } from './level.ts'
import type { ReadPixels } from './pixels.ts'
import { toSource } from './placement.ts'
import { fittedSize, fullSize, wholeView } from './view.ts'
import type { View } from './view.ts'
import { zoomsOf } from './zooms.ts'

/**
 * A scene as a layer: each file is read separately, from its own overview, so no stacked file is written. A pixel that
 * is missing in one requested band, or excluded by the mask, is missing in all.
 *
 * @param files the files of the scene, by their number
 * @param fetch reads the byte ranges of several files at once
 * @throws SCENE_UNUSABLE, NO_GEOREFERENCE, UNSUPPORTED_LAYOUT, UNSUPPORTED_CRS
 */
export function sceneLayer(files: readonly LayerFile[], scene: Scene, fetch: FetchTogether): Layer {
  const used = files.map((file) => (scene.ownMasks ? file : { ...file, raster: withoutMasks(file.raster) }))
  const plan = planStack(
    used.map(({ raster }) => raster),
    scene,
  )
  const raster = describedRaster(used, plan)
  const crs = resolveCrs(raster, createCrsCatalogue(), null)
  const place = { width: plan.width, height: plan.height, affine: plan.affine, crs }
  const boxes = boxesOf(place)
  const layers = new Map<string, Layer>()
  const layerOf = (file: number, placement: PlannedPiece['placement']): Layer => {
    const key = JSON.stringify([file, placement])
    const known = layers.get(key)
    if (known) return known
    const affine = affineOfPiece(plan.affine, placement.map)
    const made = fileLayer(used[file] as LayerFile, { affine, crs, clip: placement.from })
    layers.set(key, made)
    return made
  }
  const first = (band: number): { piece: PlannedPiece; layer: Layer } => {
    const piece = largest((plan.bands[band] as PlannedBand).pieces)
    return { piece, layer: layerOf(piece.file, piece.placement) }
  }
  const needs = (view: View, choice: LayerChoice): FileNeed[] => [
    ...choice.bands.flatMap((band) => needsOfBand(plan.bands[band] as PlannedBand, { view, choice, plan, layerOf })),
    ...(plan.mask === null ? [] : layerOf(plan.mask.file, plan.mask.placement).needs(view, maskChoice(plan.mask.band))),
  ]
  return {
    raster,
    crs,
    boxes,
    reference: null,
    ...zoomsOf(place, boxes),
    wholeView: (size, maxSize) => wholeView(plan, ...(size ? fullSize(plan, size) : fittedSize(plan, maxSize))),
    limits: rememberLimits(async (bands) =>
      Promise.all(bands.map((band) => limitsOf(plan.bands[band] as PlannedBand, first(band).piece, used))),
    ),
    levelOf: (view) => first(0).layer.levelOf(view),
    stepOf(view) {
      const visible = visibleRect(view, boxes)
      return visible === null ? 1 : stepOf(toSource(view, place), visible)
    },
    needs,
    async read(view, choice) {
      const needed = needs(view, choice)
      addCost(0, needed)
      fetch(needed)
      const read: ReadPixels[] = []
      for (const band of choice.bands) {
        const values = await readBand(plan.bands[band] as PlannedBand, { view, choice, plan, layerOf })
        if (values === null) return null
        read.push(values)
      }
      const alpha = read.reduce(
        (least, one) => least.map((value, i) => Math.min(value, one.alpha[i] as number)),
        read[0]!.alpha,
      )
      if (plan.mask !== null && scene.mask !== null) {
        const flags = layerOf(plan.mask.file, plan.mask.placement)
        await dropFlagged(flags, view, scene.mask, alpha)
      }
      const { width, height } = view
      return alpha.some((value) => value > 0)
        ? { width, height, planes: read.map(({ planes: [plane] }) => plane!), alpha }
        : null
    },
  }
}

/**
 * Affine transform of a file's pixels, from the grid's transform and the positions of the grid's pixels in the file.
 */
function affineOfPiece([gx, gxc, gxr, gy, gyc, gyr]: Affine, [x, xc, xr, y, yc, yr]: Affine): Affine {
  const determinant = xc * yr - xr * yc
  // Step of the file along its columns and rows, in pixels of the grid.
  const [cc, cr] = [yr / determinant, -yc / determinant]
  const [rc, rr] = [-xr / determinant, xc / determinant]
  const column = 0.5 - (x * cc + y * rc)
  const row = 0.5 - (x * cr + y * rr)
  return [
    gx + column * gxc + row * gxr,
    cc * gxc + cr * gxr,
    rc * gxc + rr * gxr,
    gy + column * gyc + row * gyr,
    cc * gyc + cr * gyr,
    rc * gyc + rr * gyr,
  ]
}

function withoutMasks(raster: RasterInfo): RasterInfo {
  return {
    ...raster,
    mask: null,
    alphaBand: null,
    overviews: raster.overviews.map((overview) => ({ ...overview, mask: null })),
  }
}

/** Description of a scene: the grid and the bands of the plan, the headers of its finest file. */
function describedRaster(files: readonly LayerFile[], plan: StackPlan): RasterInfo {
  const finest = (files[plan.georeferenceOf] as LayerFile).raster
  const { width, height, affine, type, bands } = plan
  return {
    ...finest,
    width,
    height,
    affine,
    sampleType: type,
    samplesPerPixel: bands.length,
    color: 'gray',
    palette: null,
    alphaBand: null,
    nodata: null,
    bytes: files.reduce((sum, { raster }) => sum + raster.bytes, 0),
    bands: bands.map(({ name, color, scale, offset }, index) => ({ index, name, color, scale, offset })),
  }
}

function areaOf({ placement: { to } }: PlannedPiece): number {
  return to.width * to.height
}

function largest(pieces: readonly PlannedPiece[]): PlannedPiece {
  return pieces.reduce((best, piece) => (areaOf(piece) > areaOf(best) ? piece : best))
}

/** The range of physical values of a band, from that of its largest file. */
async function limitsOf(
  { scale, offset }: PlannedBand,
  { file, band, ratio, shift }: PlannedPiece,
  files: readonly LayerFile[],
): Promise<readonly [number, number]> {
  const { source, raster } = files[file] as LayerFile
  const { min, max } = await estimateScale(source, raster, [band])
  const own = raster.bands[band] ?? { scale: 1, offset: 0 }
  const written = (value: number): number => (((value - own.offset) / own.scale) * ratio + shift) * scale + offset
  const [a, b] = [written(min[0] as number), written(max[0] as number)]
  return [Math.min(a, b), Math.max(a, b)]
}

interface BandContext {
  readonly view: View
  readonly choice: LayerChoice
  readonly plan: StackPlan
  readonly layerOf: (file: number, placement: PlannedPiece['placement']) => Layer
}

function needsOfBand({ pieces }: PlannedBand, { view, choice, layerOf }: BandContext): FileNeed[] {
  return pieces.flatMap((piece) => layerOf(piece.file, piece.placement).needs(view, pieceChoice(choice, piece)))
}

function pieceChoice(choice: LayerChoice, { band, nodata }: PlannedPiece): LayerChoice {
  return { ...choice, bands: [band], nodata: choice.nodata ?? nodata ?? Number.NaN }
}

function maskChoice(band: number): LayerChoice {
  return { bands: [band], nodata: Number.NaN, resampling: 'nearest' }
}

/** Reads one band of a view. Later pieces cover earlier ones. */
async function readBand(
  { pieces, nodata }: PlannedBand,
  { view, choice, plan, layerOf }: BandContext,
): Promise<ReadPixels | null> {
  const { width, height } = view
  const plane = new Float64Array(width * height)
  const alpha = new Uint8Array(width * height)
  let missing = alpha.length
  for (const piece of pieces.toReversed()) {
    if (missing === 0) break
    const { ratio, shift } = piece
    const read = await layerOf(piece.file, piece.placement).read(view, pieceChoice(choice, piece))
    if (read === null) continue
    const values = read.planes[0]!
    for (let i = 0; i < alpha.length; i++) {
      if (alpha[i] !== 0 || read.alpha[i] === 0) continue
      plane[i] = (values[i] as number) * ratio + shift
      if (plane[i] === nodata) continue
      alpha[i] = read.alpha[i] as number
      missing--
    }
  }
  if (missing === alpha.length) return null
  const isAsStored = pieces.every(({ ratio, shift }) => ratio === 1 && shift === 0)
  return { width, height, planes: [isAsStored ? plane : Float64Array.from(samplesOf(plane, plan.type))], alpha }
}

async function dropFlagged(
  flags: Layer,
  view: View,
  { band, values, bits }: SceneMask,
  alpha: Uint8Array,
): Promise<void> {
  const read = await flags.read(view, maskChoice(band))
  const classes = new Set(values)
  const set = bits.reduce((all, bit) => all | (1 << bit), 0)
  for (let i = 0; i < alpha.length; i++) {
    const value = read?.planes[0]?.[i] as number
    if (!read || read.alpha[i] === 0 || classes.has(value) || (value & set) !== 0) alpha[i] = 0
  }
}
