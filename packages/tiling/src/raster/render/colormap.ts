import * as ramps from 'd3-scale-chromatic'
import { unknownColormap } from './errors.ts'

/** Red, green, blue and alpha, 0 to 255. */
export type Rgba = readonly [number, number, number, number]

/**
 * Mapping of values to colours: a ramp of 256 colours over the rescaled values, single values, or ranges `[from, to)`.
 */
export type Colormap =
  | { readonly kind: 'ramp'; readonly colors: Uint8Array }
  | { readonly kind: 'values'; readonly colors: ReadonlyMap<number, Rgba> }
  | {
      readonly kind: 'ranges'
      readonly ranges: readonly { readonly from: number; readonly to: number; readonly color: Rgba }[]
    }

const RAMPS: Readonly<Record<string, (t: number) => string>> = {
  viridis: ramps.interpolateViridis,
  magma: ramps.interpolateMagma,
  inferno: ramps.interpolateInferno,
  plasma: ramps.interpolatePlasma,
  cividis: ramps.interpolateCividis,
  turbo: ramps.interpolateTurbo,
  gray: (t) => `rgb(${[t, t, t].map((v) => Math.round(v * 255)).join(',')})`,
  greys: ramps.interpolateGreys,
  blues: ramps.interpolateBlues,
  greens: ramps.interpolateGreens,
  oranges: ramps.interpolateOranges,
  purples: ramps.interpolatePurples,
  reds: ramps.interpolateReds,
  ylgn: ramps.interpolateYlGn,
  ylgnbu: ramps.interpolateYlGnBu,
  ylorrd: ramps.interpolateYlOrRd,
  rdylgn: ramps.interpolateRdYlGn,
  rdylbu: ramps.interpolateRdYlBu,
  rdbu: ramps.interpolateRdBu,
  spectral: ramps.interpolateSpectral,
}

/** Names that {@link namedColormap} accepts; each also with `_r`. */
export const COLORMAPS: readonly string[] = Object.keys(RAMPS)

/** @throws UNKNOWN_COLORMAP */
export function namedColormap(name: string): Colormap {
  return { kind: 'ramp', colors: colorsOf(name) }
}

/** Red, green, blue and alpha of the 256 colours of a ramp. @throws UNKNOWN_COLORMAP */
export function colorsOf(name: string): Uint8Array {
  const reversed = name.endsWith('_r')
  const ramp = Object.hasOwn(RAMPS, reversed ? name.slice(0, -2) : name)
    ? RAMPS[reversed ? name.slice(0, -2) : name]
    : undefined
  if (!ramp) throw unknownColormap({ name, names: COLORMAPS })
  const colors = new Uint8Array(4 * 256)
  for (let i = 0; i < 256; i++) colors.set(parseColor(ramp((reversed ? 255 - i : i) / 255)), 4 * i)
  return colors
}

/** `#rrggbb` and `rgb(r, g, b)`, the formats of the ramps. */
function parseColor(text: string): Rgba {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text)
  const [r = 0, g = 0, b = 0] = hex
    ? hex.slice(1).map((part) => Number.parseInt(part, 16))
    : (text.match(/\d+(?:\.\d+)?/g) ?? []).map((part) => Math.round(Number(part)))
  return [r, g, b, 255]
}
