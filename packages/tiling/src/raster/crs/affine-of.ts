import { noGeoreference } from '../errors.ts'
import type { Affine, RasterInfo } from '../raster-info.ts'
import { fitAffine } from './control-points.ts'

/** Maximum deviation in pixels of the transform that replaces control points. */
const MAX_MISFIT = 1

/**
 * The transform of a raster: the stored one, else the one that fits its ground control points within a pixel.
 *
 * @throws NO_GEOREFERENCE
 */
export function affineOf({ affine, controlPoints }: RasterInfo): Affine {
  if (affine !== null) return affine
  if (controlPoints.length < 2) throw noGeoreference({ why: 'no transform is stored, or one that has no inverse' })
  const points = `it has ${controlPoints.length} ground control points and no transform`
  const fit = fitAffine(controlPoints)
  if (fit === null) throw noGeoreference({ why: `${points}, and they do not span a plane` })
  if (fit.residual > MAX_MISFIT) {
    throw noGeoreference({ why: `${points}, and the best affine one misses them by ${fit.residual.toFixed(1)} pixels` })
  }
  return fit.affine
}
