import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { mapColors } from './colors.ts'
import { FONT, addArchive } from './engine.ts'

/** Sources and layers of a basemap. */
export interface Parts {
  readonly sources: Readonly<Record<string, Parameters<MapLibreMap['addSource']>[1]>>
  readonly layers: readonly LayerSpecification[]
}

/** Zoom from which on names of an archive's towns are drawn. */
export const CITY_NAMES_ZOOM = 8
/**
 * Zoom from which on names of side streets are drawn: the last zoom of archives. The style would start one zoom later.
 */
const STREET_NAMES_ZOOM = 14
/** Line layers of water in Protomaps' style; `basemapTiles` has lines and areas in separate layers. */
const WATERWAYS: ReadonlySet<string> = new Set(['water_stream', 'water_river', 'water_waterway_label'])

/** The layers that draw an archive of `basemapTiles` above the world, in the style of Protomaps. */
export async function cityLayers(
  layerIds: readonly string[],
  { dark, isGrey, source }: { readonly dark: boolean; readonly isGrey: boolean; readonly source: string },
): Promise<LayerSpecification[]> {
  const { layers, namedFlavor } = await import('@protomaps/basemaps')
  const flavor = namedFlavor(isGrey ? (dark ? 'black' : 'grayscale') : dark ? 'dark' : 'light')
  return layers(source, flavor, { lang: navigator.language.slice(0, 2) }).flatMap((layer) => {
    // The world basemap beneath supplies the background.
    if (layer.id === 'background' || layer.id === 'earth') return []
    const table = WATERWAYS.has(layer.id) ? 'waterways' : layer['source-layer' as keyof typeof layer]
    if (!layerIds.includes(table as string)) return []
    const placed = { ...layer, 'source-layer': table } as LayerSpecification
    if (placed.type === 'symbol') placed.minzoom ??= CITY_NAMES_ZOOM
    if (placed.id === 'roads_labels_minor') placed.minzoom = STREET_NAMES_ZOOM
    return withoutSprites(placed)
  })
}

/** Layers for an archive of raster tiles, of Protomaps' schema, or of other layers. */
export async function archiveParts(
  { url, attribution }: { readonly url: string; readonly attribution: string },
  dark: boolean,
): Promise<Parts> {
  const { source, layerIds } = await addArchive(url)
  const sources = { 'base:own': { ...source, ...(attribution && { attribution }) } }
  if (source.type === 'raster') return { sources, layers: [{ id: 'base:own', type: 'raster', source: 'base:own' }] }
  if (layerIds.includes('earth') && layerIds.includes('roads')) {
    const { layers, namedFlavor } = await import('@protomaps/basemaps')
    const styled = layers('base:own', namedFlavor(dark ? 'dark' : 'light'), { lang: navigator.language.slice(0, 2) })
    return { sources, layers: styled.flatMap(withoutSprites) }
  }
  const { border, label } = mapColors(dark)
  const layers = layerIds.flatMap((name): LayerSpecification[] => [
    {
      id: `base:${name}:fill`,
      type: 'fill',
      source: 'base:own',
      'source-layer': name,
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': border, 'fill-opacity': 0.35 },
    },
    {
      id: `base:${name}:line`,
      type: 'line',
      source: 'base:own',
      'source-layer': name,
      filter: ['==', ['geometry-type'], 'LineString'],
      paint: { 'line-color': label, 'line-opacity': 0.5, 'line-width': 0.8 },
    },
  ])
  return { sources, layers }
}

/**
 * A layer of Protomaps' style in the page's font and without sprites: places have names only, and other icons are left
 * out.
 */
function withoutSprites(layer: LayerSpecification): LayerSpecification[] {
  const id = `base:${layer.id}`
  if (layer.type !== 'symbol') return [{ ...layer, id }]
  const { 'icon-image': icon, ...layout } = layer.layout ?? {}
  if (icon !== undefined && !layer.id.startsWith('places_')) return []
  return [{ ...layer, id, layout: { ...layout, 'text-font': FONT } }]
}
