import type { JSX } from 'preact'
import { useStore } from '../lib/store.ts'
import { isDark } from '../lib/theme.ts'
import { FILL_OPACITY, mapColors } from './colors.ts'

/** A colour as it appears on the map over land; opacity from 0 to 1. */
export function Swatch(props: { color: string; form?: 'area' | 'point' | 'line'; opacity?: number }): JSX.Element {
  const { color, form = 'area', opacity = form === 'area' ? FILL_OPACITY : 1 } = props
  const { land } = mapColors(useStore(isDark))
  const shown = `color-mix(in srgb, ${color} ${opacity * 100}%, ${land})`
  return <span class={`swatch ${form}`} style={{ background: shown }} aria-hidden="true" />
}
