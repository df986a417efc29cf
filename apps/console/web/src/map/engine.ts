import 'maplibre-gl/dist/maplibre-gl.css'
import { Map as MapLibreMap, addProtocol, type GeoJSONSource, type StyleSpecification } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url'
import { PMTiles, TileType } from 'pmtiles'
import { mapColors } from './colors.ts'
import { addControls, startEngine } from './engine-basics.ts'
import { graticule, type Box } from './graticule.ts'

const archives = startEngine(workerUrl)
// The page fetches these tiles itself, because its policy may allow a server that the policy of the engine's worker
// does not.
addProtocol('page', async ({ url }, { signal }) => {
  const response = await fetch(url.slice('page://'.length), { signal })
  if (!response.ok) throw new TileRefused(response.status)
  return { data: await response.arrayBuffer() }
})

/** Error for a tile that the server refused. */
export class TileRefused extends Error {
  /** True when the caller may not read the source of the tile, so that its other tiles will be refused as well. */
  readonly isForbidden: boolean

  constructor(status: number) {
    super(`a tile was answered with ${status}`)
    this.isForbidden = status === 401 || status === 403
  }
}

/** Size of a label of the graticule with its distance from the edge, in pixels. */
const [LABEL_WIDTH, LABEL_HEIGHT] = [50, 16]

/** Labels use the page's own font, so no glyphs are downloaded. */
export const FONT = ['Inter Variable']

export interface MapOptions {
  readonly container: HTMLElement
  readonly dark: boolean
  readonly view: MapView | null
  /** Left, upper, right and lower edges in pixels of what covers the map, such as its title. */
  readonly covers: () => readonly PixelBox[]
}

export type PixelBox = readonly [left: number, top: number, right: number, bottom: number]

/** View of a map. */
export interface MapView {
  readonly center: readonly [number, number]
  readonly zoom: number
}

/** A map of meridians and parallels. A basemap is drawn beneath them, the project's data above. */
export function createMap({ container, dark, view, covers }: MapOptions): MapLibreMap {
  const map = new MapLibreMap({
    container,
    style: baseStyle(dark),
    center: view ? [view.center[0], view.center[1]] : [10, 25],
    zoom: view?.zoom ?? 1,
    maxZoom: 20,
    attributionControl: false,
    // Each fade is many frames, which a computer without a graphics card draws slowly.
    fadeDuration: 100,
    dragRotate: false,
    pitchWithRotate: false,
    rollEnabled: false,
    renderWorldCopies: true,
  })
  map.touchZoomRotate.disableRotation()
  addControls(map)
  const drawGraticule = () => {
    const bounds = map.getBounds()
    const box: Box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()]
    const covered = covers().map(([left, top, right, bottom]): Box => {
      const low = map.unproject([left - LABEL_WIDTH / 2, bottom + LABEL_HEIGHT / 2])
      const high = map.unproject([right + LABEL_WIDTH / 2, top - LABEL_HEIGHT])
      return [low.lng, low.lat, high.lng, high.lat]
    })
    void map.getSource<GeoJSONSource>('graticule')?.setData(graticule(box, covered))
  }
  map.on('load', drawGraticule)
  // The controls of the page are added after the map is loaded.
  void map.once('idle', drawGraticule)
  map.on('moveend', drawGraticule)
  return map
}

/** Switches the base layers of a map to the other theme. */
export function setMapTheme(map: MapLibreMap, dark: boolean): void {
  const colors = mapColors(dark)
  map.setPaintProperty('background', 'background-color', colors.background)
  map.setPaintProperty('graticule-lines', 'line-color', colors.graticule)
  map.setPaintProperty('graticule-labels', 'text-color', colors.label)
  map.setPaintProperty('graticule-labels', 'text-halo-color', colors.halo)
}

/** Shows or hides the meridians and parallels, which would cross the streets of a basemap. */
export function showGraticule(map: MapLibreMap, isShown: boolean): void {
  for (const id of ['graticule-lines', 'graticule-labels'])
    map.setLayoutProperty(id, 'visibility', isShown ? 'visible' : 'none')
}

/** The archive at a URL of this origin, opened once and shared with its tiles. */
export function openArchive(path: string): PMTiles {
  const url = new URL(path, location.href).href
  const known = archives.get(url)
  if (known) return known
  const archive = new PMTiles(url)
  archives.add(archive)
  return archive
}

/** The source of an archive's tiles. */
export function archiveSource(path: string): { type: 'vector'; url: string } {
  return { type: 'vector', url: `pmtiles://${new URL(path, location.href).href}` }
}

/**
 * An archive at any URL, registered with the engine: its source, and the names of its layers if it has vector tiles.
 */
export async function addArchive(
  path: string,
): Promise<{ source: { type: 'vector' | 'raster'; url: string }; layerIds: readonly string[] }> {
  const archive = openArchive(path)
  const { url } = archiveSource(path)
  const [header, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()]).catch((error: unknown) => {
    // A failed archive is removed from the cache, so that it can be tried again.
    archives.tiles.delete(new URL(path, location.href).href)
    throw error
  })
  if (header.tileType !== TileType.Mvt) return { source: { type: 'raster', url }, layerIds: [] }
  const { vector_layers: layers = [] } = metadata as { vector_layers?: readonly { readonly id: string }[] }
  return { source: { type: 'vector', url }, layerIds: layers.map(({ id }) => id) }
}

function baseStyle(dark: boolean): StyleSpecification {
  const colors = mapColors(dark)
  return {
    version: 8,
    sources: { graticule: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } },
    layers: [
      { id: 'background', type: 'background', paint: { 'background-color': colors.background } },
      {
        id: 'graticule-lines',
        type: 'line',
        source: 'graticule',
        filter: ['==', '$type', 'LineString'],
        paint: { 'line-color': colors.graticule, 'line-width': 1 },
      },
      {
        id: 'graticule-labels',
        type: 'symbol',
        source: 'graticule',
        filter: ['==', '$type', 'Point'],
        layout: {
          'text-field': ['get', 'text'],
          'text-font': FONT,
          'text-size': 10.5,
          'text-anchor': ['get', 'anchor'],
          'text-padding': 4,
          // Moves labels away from the edge of the map.
          'text-offset': ['match', ['get', 'anchor'], 'left', ['literal', [0.5, 0]], ['literal', [0, 0.4]]],
        },
        paint: { 'text-color': colors.label, 'text-halo-color': colors.halo, 'text-halo-width': 1.2 },
      },
    ],
  }
}
