import type { MapDocument, VectorLayer } from './document.ts'
import { colorOf } from './expressions.ts'
import { isClustered } from './layer-colors.ts'
import type { StyleLayer } from './layer-parts.ts'

/** Colour beneath a map. */
export interface Ground {
  /** Whether a colour that is drawn with an opacity has too little contrast to the ground. */
  readonly isFaint: (color: string, opacity: number) => boolean
  /** Colour of halos, which is not faint. */
  readonly halo: string
}

/** Width of a halo in pixels. */
const WIDTH = 1
const ENDING = ':halo'

/** Whether a style layer is a halo, which stands for no feature of its own. */
export function isHalo(id: string): boolean {
  return id.endsWith(ENDING)
}

/**
 * The layers of a style with thin halos around features whose colour is faint, such as dark classes on a dark basemap.
 * Visible outlines need no halo.
 */
export function withHalos(layers: readonly StyleLayer[], document: MapDocument, ground: Ground): StyleLayer[] {
  const known = new Map(document.layers.map((layer) => [layer.id, layer]))
  return layers.flatMap((part) => {
    const layer = known.get(part.metadata['terrane:layer'] ?? '')
    if (layer?.kind !== 'vector' || layer.draw === 'heat' || isClustered(layer)) return [part]
    const halo = haloOf(part, layer, ground)
    // The fill of an area would cover the inner half of its halo.
    return halo === null ? [part] : part.type === 'fill' ? [part, halo] : [halo, part]
  })
}

function haloOf(part: StyleLayer, layer: VectorLayer, ground: Ground): StyleLayer | null {
  const paint = paintOf(part, layer, ground.halo)
  const faint = faintOf(part.type, layer, ground)
  if (paint === null || faint === null) return null
  const conditions = (part['filter'] as readonly unknown[] | undefined)?.slice(1) ?? []
  return {
    ...part,
    ...(faint.length > 0 && { filter: ['all', ...conditions, faint] }),
    id: `${part.id}${ENDING}`,
    type: part.type === 'fill' ? 'line' : part.type,
    paint,
  }
}

/** The condition of features with a faint colour: empty for all features, null for none. */
function faintOf(type: StyleLayer['type'], { color, opacity, outline }: VectorLayer, ground: Ground) {
  const isFaint = (shade: string) => ground.isFaint(shade, opacity)
  if (type !== 'line' && outline.width > 0 && !isFaint(outline.color)) return null
  if (color.by === 'one') return isFaint(color.color) ? [] : null
  let hasFaint = false
  const mark = (shade: string) => {
    const is = isFaint(shade)
    hasFaint ||= is
    return is ? 'faint' : 'clear'
  }
  const marked = colorOf(color, mark)
  return hasFaint ? ['==', marked, 'faint'] : null
}

/** Paint of a halo beside a part; null for parts that have none. */
function paintOf({ type, paint, metadata }: StyleLayer, { outline }: VectorLayer, color: string) {
  const drawn = paint as Readonly<Record<string, unknown>>
  if (type === 'circle')
    return {
      'circle-radius': drawn['circle-radius'],
      'circle-opacity': 0,
      'circle-stroke-color': color,
      'circle-stroke-width': outline.width + WIDTH,
    }
  // As wide as outlines, which hide areas of a few pixels at low zooms.
  const width = ['interpolate', ['linear'], ['zoom'], 4, (WIDTH + outline.width) / 8, 9, WIDTH + outline.width]
  if (type === 'fill') return { 'line-color': color, 'line-width': width }
  if (type !== 'line' || metadata['terrane:part'] !== 'line') return null
  return { 'line-color': color, 'line-width': WIDTH, 'line-gap-width': drawn['line-width'] }
}
