import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { BASEMAP_ARCHIVE } from '@terrane/map-style/basemap'
import { get, projectPath } from '../lib/api.ts'
import { createStore, type Store } from '../lib/store.ts'
import { mapColors, type MapColors } from './colors.ts'
import { CITY_NAMES_ZOOM, archiveParts, cityLayers, type Parts } from './basemap-archive.ts'
import { FONT, addArchive } from './engine.ts'
import { BASEMAP_PREFIX } from './names-on-top.ts'
import { unwrapped } from './unwrapped.ts'

/** The basemap beneath the data: none, the countries of the world, the operator's, or an archive of the project. */
export type Basemap = 'plain' | 'world' | 'own' | `${typeof BASEMAP_ARCHIVE}${string}`

/** The operator's basemap, as the console's API describes it. */
export interface OwnBasemap {
  readonly kind: 'none' | 'raster' | 'pmtiles'
  readonly url: string
  readonly attribution: string
}

/** Data of the world basemap, packed by the build. */
interface World {
  readonly topology: Topology<{ countries: GeometryCollection<{ name: string }>; land: GeometryCollection }>
  /** Name, longitude, latitude, and population in thousands; the largest first. */
  readonly towns: readonly (readonly [string, number, number, number])[]
}

/** All layers of a basemap are drawn beneath this layer, except its names. */
const ABOVE = 'graticule-lines'
/** Last zoom of land and borders, because data at 1:50 million are off by kilometres. */
export const WORLD_ZOOM = 9
const FADE_ZOOM = 7.5
const KEY = 'terrane.basemap'

/** The basemap of this browser; null until one is chosen. */
export const chosenBasemap: Store<Basemap | null> = createStore<Basemap | null>(saved())
chosenBasemap.subscribe(() => localStorage.setItem(KEY, chosenBasemap.get() ?? ''))

function saved(): Basemap | null {
  const value = localStorage.getItem(KEY)
  const isKnown = value === 'plain' || value === 'world' || value === 'own' || value?.startsWith(BASEMAP_ARCHIVE)
  return isKnown ? (value as Basemap) : null
}

export function readOwnBasemap(signal?: AbortSignal): Promise<OwnBasemap> {
  return get('/api/basemap', signal)
}

/** A basemap of a project, and how it is drawn. */
export interface ShownBasemap {
  readonly ref: string
  readonly basemap: Basemap
  readonly own: OwnBasemap
  readonly dark: boolean
  /** Aborts when another basemap is chosen. */
  readonly signal: AbortSignal
}

/** Draws a basemap and removes the former one. */
export async function showBasemap(map: MapLibreMap, shown: ShownBasemap): Promise<void> {
  const parts = await partsOf(shown)
  // The map may have been removed while the parts were loaded.
  if (!map.style || shown.signal.aborted) return
  for (const { id } of map.getStyle().layers) if (id.startsWith(BASEMAP_PREFIX)) map.removeLayer(id)
  for (const id of Object.keys(map.getStyle().sources)) if (id.startsWith(BASEMAP_PREFIX)) map.removeSource(id)
  for (const [id, source] of Object.entries(parts.sources)) map.addSource(id, source)
  for (const layer of parts.layers) map.addLayer(layer, ABOVE)
}

async function partsOf({ ref, basemap, own, dark }: ShownBasemap): Promise<Parts> {
  if (basemap === 'world') return worldParts(dark)
  if (basemap === 'own' && own.kind === 'raster') return rasterParts(own)
  if (basemap === 'own' && own.kind === 'pmtiles') return archiveParts(own, dark)
  if (basemap.startsWith(BASEMAP_ARCHIVE)) return projectParts(ref, basemap, dark)
  return { sources: {}, layers: [] }
}

/** The world, and above it an archive of the project. With `/grey` after its name it is drawn without colours. */
async function projectParts(ref: string, basemap: string, dark: boolean): Promise<Parts> {
  const [name = '', look] = basemap.split('/')
  const path = projectPath(ref, `/storage/v1/object/pmtiles/${encodeURIComponent(name)}.pmtiles`)
  const [world, { source, layerIds }] = await Promise.all([worldParts(dark), addArchive(path)])
  const layers = await cityLayers(layerIds, { dark, isGrey: look === 'grey', source: 'base:city' })
  return {
    sources: { ...world.sources, 'base:city': source },
    layers: [
      // Above this zoom, towns are labelled by the archive.
      ...world.layers.map((layer) => (layer.id === 'base:towns' ? { ...layer, maxzoom: CITY_NAMES_ZOOM } : layer)),
      ...layers,
    ],
  }
}

/** Land, borders, and names of countries and towns, from the page's own files. */
async function worldParts(dark: boolean): Promise<Parts> {
  const [{ default: world }, { feature, mesh }] = await Promise.all([
    import('virtual:world'),
    import('topojson-client'),
  ])
  const { topology, towns } = world as World
  const { countries, land } = topology.objects
  const names = feature(topology, countries).features.map(({ geometry, properties }) => {
    const areas = unwrapped(geometry)
    return point(labelPlace(areas), { name: properties.name, rank: sizeOf(areas) })
  })
  const coast = feature(topology, land).features.map((part) => ({ ...part, geometry: unwrapped(part.geometry) }))
  const places = towns.map(([name, lng, lat, thousands]) => point([lng, lat], { name, rank: thousands }))
  return {
    sources: {
      'base:land': geojson(
        { type: 'FeatureCollection', features: coast },
        '<a href="https://www.naturalearthdata.com">Natural Earth</a>',
      ),
      'base:borders': geojson(mesh(topology, countries, (a, b) => a !== b)),
      'base:countries': geojson({ type: 'FeatureCollection', features: names }),
      'base:towns': geojson(
        { type: 'FeatureCollection', features: places },
        '© <a href="https://www.geonames.org">GeoNames</a>',
      ),
    },
    layers: [...landLayers(mapColors(dark)), ...nameLayers(mapColors(dark))],
  }
}

function landLayers(colors: MapColors): LayerSpecification[] {
  return [
    {
      id: 'base:land',
      type: 'fill',
      source: 'base:land',
      maxzoom: WORLD_ZOOM,
      paint: { 'fill-color': colors.land },
    },
    {
      // Beyond the last zoom of the coast, everything has the colour of land.
      id: 'base:ground',
      type: 'background',
      minzoom: FADE_ZOOM,
      paint: {
        'background-color': colors.land,
        'background-opacity': ['interpolate', ['linear'], ['zoom'], FADE_ZOOM, 0, WORLD_ZOOM, 1],
      },
    },
    {
      id: 'base:borders',
      type: 'line',
      source: 'base:borders',
      maxzoom: WORLD_ZOOM,
      paint: {
        'line-color': colors.border,
        'line-opacity': ['interpolate', ['linear'], ['zoom'], FADE_ZOOM, 1, WORLD_ZOOM, 0],
        'line-width': ['interpolate', ['linear'], ['zoom'], 0, 0.6, 8, 1.6],
      },
    },
  ]
}

function nameLayers(colors: MapColors): LayerSpecification[] {
  const paint = { 'text-color': colors.label, 'text-halo-color': colors.land, 'text-halo-width': 1.2 }
  return [
    {
      id: 'base:towns',
      type: 'symbol',
      source: 'base:towns',
      minzoom: 3,
      // Smaller towns appear at higher zoom levels.
      filter: ['>=', ['get', 'rank'], ['interpolate', ['linear'], ['zoom'], 3, 5000, 5, 1000, 7, 100]],
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['zoom'], 3, 10, 10, 13],
        'symbol-sort-key': ['-', ['get', 'rank']],
      },
      paint,
    },
    {
      id: 'base:countries',
      type: 'symbol',
      source: 'base:countries',
      maxzoom: 6.5,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 14],
        'text-letter-spacing': 0.06,
        'text-max-width': 7,
        'symbol-sort-key': ['-', ['get', 'rank']],
      },
      paint,
    },
  ]
}

const geojson = (data: GeoJSON.GeoJSON, attribution = '') => ({ type: 'geojson', data, attribution }) as const

function rasterParts({ url, attribution }: OwnBasemap): Parts {
  return {
    sources: { 'base:own': { type: 'raster', tiles: [url], tileSize: 256, attribution } },
    layers: [{ id: 'base:own', type: 'raster', source: 'base:own' }],
  }
}

function point([lng, lat]: readonly [number, number], properties: GeoJSON.GeoJsonProperties): GeoJSON.Feature {
  return { type: 'Feature', properties, geometry: { type: 'Point', coordinates: [lng, lat] } }
}

/** The outer ring with the most area, in square degrees, and that area. */
function largestRing(geometry: GeoJSON.Geometry): { ring: GeoJSON.Position[]; area: number } {
  const polygons =
    geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.type === 'MultiPolygon' ? geometry.coordinates : []
  const rings = polygons.map(([outer = []]) => ({ ring: outer, area: Math.abs(centroid(outer).area) }))
  return rings.reduce((a, b) => (b.area > a.area ? b : a), { ring: [], area: 0 })
}

function sizeOf(geometry: GeoJSON.Geometry): number {
  return largestRing(geometry).area
}

function labelPlace(geometry: GeoJSON.Geometry): readonly [number, number] {
  const { lng, lat } = centroid(largestRing(geometry).ring)
  return [lng, lat]
}

/** Centroid and signed area of a ring (the shoelace formula). */
function centroid(ring: readonly GeoJSON.Position[]): { lng: number; lat: number; area: number } {
  let area = 0
  let x = 0
  let y = 0
  for (let i = 1; i < ring.length; i++) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? []
    const [bx = 0, by = 0] = ring[i] ?? []
    const cross = ax * by - bx * ay
    area += cross / 2
    x += ((ax + bx) * cross) / 6
    y += ((ay + by) * cross) / 6
  }
  return area === 0 ? { lng: 0, lat: 0, area } : { lng: x / area, lat: y / area, area }
}
