import type { Coloring, VectorLayer } from './document.ts'
import { legendOf } from './legend.ts'
import { colorsOf } from './palettes.ts'

export { UNCLASSED } from './expressions.ts'

/** Colour of circles that stand for several rows. */
export const CLUSTER_COLOR = '#2f6f8f'

/** Whether the points of a layer are joined where they are near each other. */
export function isClustered({ draw, geometry }: VectorLayer): boolean {
  return draw === 'cluster' && geometry === 'point'
}

/** Whether the areas of a layer are labelled at points of their tiles, because an area may lie in several tiles. */
export function hasLabelPoints({ label, geometry }: VectorLayer): boolean {
  return label !== null && (geometry === 'area' || geometry === 'mixed')
}

/** Colours of a heat map, from few points to many: a palette, or one colour that fades in. */
export function heatColors(color: Coloring): readonly string[] {
  if (color.by === 'one') return [color.color]
  return color.by === 'number' ? colorsOf(color.palette, 6, color.isReversed) : colorsOf('magma', 6)
}

/** Colours of a layer on the map. */
export function shownColors({ draw, color }: VectorLayer): readonly string[] {
  if (draw === 'heat') return heatColors(color)
  return color.by === 'one' ? [color.color] : legendOf(color).map((entry) => entry.color)
}
