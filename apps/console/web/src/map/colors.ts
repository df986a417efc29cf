import type { Ground } from '@terrane/map-style/halos'
import { contrastOn } from './contrast.ts'

/** Colours of the map parts beneath the data. */
export interface MapColors {
  readonly background: string
  readonly land: string
  readonly border: string
  readonly graticule: string
  readonly label: string
  readonly halo: string
  /** Outlines of tiles and areas. */
  readonly outline: string
  readonly accent: string
  /** Colour beneath a line, for contrast with the map. */
  readonly casing: string
}

export function mapColors(dark: boolean): MapColors {
  return dark
    ? {
        background: '#101619',
        land: '#192226',
        border: '#33424a',
        graticule: '#243036',
        label: '#84929b',
        halo: '#101619',
        outline: '#9fb0ba',
        accent: '#45c7b4',
        casing: '#04110f',
      }
    : {
        background: '#e2e8eb',
        land: '#f3f5f6',
        border: '#c2cbd1',
        graticule: '#d3dadf',
        label: '#64717a',
        halo: '#e2e8eb',
        outline: '#3a4850',
        accent: '#0b7a6d',
        casing: '#ffffff',
      }
}

/** Contrast that graphics need to their background (WCAG 2.2, 1.4.11). */
const LEAST_CONTRAST = 3

/** The ground of a theme: land and background. Colours in other notations than `#rrggbb` count as clear. */
export function groundOf(dark: boolean): Ground {
  const { land, background } = mapColors(dark)
  const isFaint = (color: string, opacity: number) =>
    [land, background].some((ground) => (contrastOn(ground, color, opacity) ?? LEAST_CONTRAST) < LEAST_CONTRAST)
  // Little more contrast than needed
  return { isFaint, halo: dark ? '#74828b' : '#76828a' }
}

/** Colours suggested by the name of a layer. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/water|river|lake|sea|bathymetry/, '#3b8fd0'],
  [/building/, '#b9785a'],
  [/street|road|segment|transport/, '#d8953a'],
  [/rail|transit/, '#7d7391'],
  [/landuse|land_use|natural|land|park|forest/, '#58a06a'],
  [/boundar|division/, '#a05bb4'],
  [/place|poi|address/, '#d1556b'],
]
const PALETTE = ['#2a9d8f', '#e0704f', '#5a7fd6', '#c4892b', '#9467bd', '#d1495b', '#3f9a58', '#7b8794']

/** Opacity of the areas of layers and tables. */
export const FILL_OPACITY = 0.42

/** The colour of a layer: always the same for the same name. */
export function layerColor(name: string): string {
  const known = BY_NAME.find(([pattern]) => pattern.test(name.toLowerCase()))
  if (known) return known[1]
  let hash = 0
  for (const char of name) hash = (hash * 31 + (char.codePointAt(0) ?? 0)) >>> 0
  return PALETTE[hash % PALETTE.length] ?? '#2a9d8f'
}

/** Outline colour of counter-examples of a search. */
export const UNLIKE = '#d1495b'

/**
 * Colours of similarity in ascending order: five samples of the viridis colour map of van der Walt and Smith. Its
 * lightness increases evenly, also for people with red-green colour blindness.
 */
export const SIMILARITY_RAMP = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725'] as const
