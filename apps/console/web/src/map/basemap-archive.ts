import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { mapColors } from './colors.ts'
import { FONT, addArchive } from './engine.ts'

/** Sources and layers of a basemap. */
export interface Parts {
  readonly sources: Readonly<Record<string, Parameters<MapLibreMap['addSource']>[1]>>
  readonly layers: readonly LayerSpecification[]
}

/** Minimum zoom of the town names of an archive. */
export const CITY_NAMES_ZOOM = 8
/** Minimum zoom of the names of side streets: the last zoom of archives, one below that of the style. */
const STREET_NAMES_ZOOM = 14
/** Minimum zoom of house numbers, below that of the style. */
const HOUSE_NUMBERS_ZOOM = 16
/** Line layers of water in Protomaps' style; `basemapTiles` has lines and areas in separate layers. */
const WATERWAYS: ReadonlySet<string> = new Set(['water_stream', 'water_river', 'water_waterway_label'])

/** The layers that draw an archive of `basemapTiles` above the world, in the style of Protomaps. */
export async function cityLayers(
  layerIds: readonly string[],
  { dark, isGrey, source }: { readonly dark: boolean; readonly isGrey: boolean; readonly source: string },
): Promise<LayerSpecification[]> {
  const { layers, namedFlavor } = await import('@protomaps/basemaps')
  const named = namedFlavor(isGrey ? (dark ? 'black' : 'grayscale') : dark ? 'dark' : 'light')
  const flavor = dark ? { ...named, ...legibleNames() } : named
  return layers(source, flavor, { lang: navigator.language.slice(0, 2) }).flatMap((layer) => {
    // The world basemap beneath supplies the background.
    if (layer.id === 'background' || layer.id === 'earth') return []
    const table = tableOf(layer)
    if (!layerIds.includes(table as string)) return []
    const placed = { ...layer, 'source-layer': table } as LayerSpecification
    if (placed.type === 'symbol') placed.minzoom ??= CITY_NAMES_ZOOM
    if (placed.id === 'roads_labels_minor') placed.minzoom = STREET_NAMES_ZOOM
    if (placed.id === 'address_label') placed.minzoom = HOUSE_NUMBERS_ZOOM
    return withoutSprites(placed)
  })
}

/** The table whose tiles a layer of Protomaps' style draws. */
function tableOf(layer: LayerSpecification): string | undefined {
  if (WATERWAYS.has(layer.id)) return 'waterways'
  return layer.id === 'address_label' ? 'addresses' : (layer as { 'source-layer'?: string })['source-layer']
}

/**
 * Colours of names on the dark theme, where the style's own have a contrast below 3:1, and of land and buildings around
 * them.
 */
function legibleNames() {
  const { land, label, halo } = mapColors(true)
  const names = ['roads_label_minor', 'roads_label_major', 'subplace_label', 'city_label', 'address_label'] as const
  const entries = names.flatMap((name) => [
    [name, name === 'city_label' ? '#c3cdd3' : label],
    [`${name}_halo`, halo],
  ])
  return { ...Object.fromEntries(entries), buildings: '#253036', earth: land }
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
