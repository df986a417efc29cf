import type { JSX } from 'preact'
import { useStore } from '../lib/store.ts'
import { isDark } from '../lib/theme.ts'
import { FILL_OPACITY, mapColors } from './colors.ts'

/** A colour as the map shows it: areas over the land, lines and points as they are. `kind` is that of a geometry; null for any. */
export function Swatch({ color, kind = null }: { color: string; kind?: string | null }): JSX.Element {
  const { land } = mapColors(useStore(isDark))
  const isArea = !/^(multi)?(point|linestring|curve|circularstring|compoundcurve)/i.test(kind ?? '')
  const shown = isArea ? `color-mix(in srgb, ${color} ${FILL_OPACITY * 100}%, ${land})` : color
  const form = isArea ? 'area' : /point/i.test(kind ?? '') ? 'point' : 'line'
  return <span class={`swatch ${form}`} style={{ background: shown }} aria-hidden="true" />
}
