import type { ExpressionSpecification, GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import type { Examples, Match, Tile } from '../lib/embeddings.ts'
import { SIMILARITY_RAMP, UNLIKE, mapColors } from './colors.ts'

/** Id of the lowest layer of this page; archives are drawn beneath it. */
export const FIRST_TILE_LAYER = 'tiles-fill'

/** Lowest and highest displayed score, without the reference tile. */
export type Range = readonly [number, number]

/** Adds the layers of tiles and matches to a map, or switches them to another theme. */
export function addTileLayers(map: MapLibreMap, dark: boolean): void {
  const { outline, accent } = mapColors(dark)
  if (!map.getSource('tiles')) {
    const data: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] }
    map.addSource('tiles', { type: 'geojson', data })
    map.addSource('matches', { type: 'geojson', data })
    map.addLayer({ id: 'tiles-fill', type: 'fill', source: 'tiles', paint: { 'fill-opacity': 0 } })
    map.addLayer({ id: 'matches-fill', type: 'fill', source: 'matches', paint: { 'fill-opacity': 0.78 } })
    map.addLayer({
      id: 'tiles-line',
      type: 'line',
      source: 'tiles',
      paint: { 'line-width': 0.7, 'line-opacity': 0.45 },
    })
    map.addLayer({ id: 'query-line', type: 'line', source: 'matches', paint: { 'line-width': 3.5 } })
    showFocus(map, [], null)
  }
  map.setPaintProperty('tiles-line', 'line-color', outline)
  const colors: ExpressionSpecification = ['match', ['get', 'side'], 'like', dark ? '#ffffff' : '#101619', 'unlike', UNLIKE, accent] // prettier-ignore
  map.setPaintProperty('query-line', 'line-color', colors)
}

/** Fill and attribution of a table's tiles. */
export interface TileStyle {
  /** Attribution of the source. */
  readonly attribution?: string | null
  /** Fill by id; tiles without one are outlined. */
  readonly colors?: ReadonlyMap<string, string> | undefined
}

/** Draws the tiles of a table. Their colours replace those of matches. */
export function showTiles(map: MapLibreMap, tiles: readonly Tile[], { attribution, colors }: TileStyle = {}): void {
  const source = map.getSource<GeoJSONSource>('tiles')
  // The attribution control reads it when the data of the source change.
  if (source) source.attribution = attribution ?? ''
  setFeatures(
    map,
    'tiles',
    tiles.map(({ id, geom }) => ({ type: 'Feature', properties: { id, color: colors?.get(id) }, geometry: geom })),
  )
  map.setPaintProperty('tiles-fill', 'fill-color', ['coalesce', ['get', 'color'], '#000000'])
  map.setPaintProperty('tiles-fill', 'fill-opacity', ['case', ['has', 'color'], 0.78, 0])
  map.setLayoutProperty('matches-fill', 'visibility', colors ? 'none' : 'visible')
}

/** Colours matches by their score within a range, and marks the examples. */
export function showMatches(
  map: MapLibreMap,
  matches: readonly Match[],
  { like, unlike }: Examples,
  [low, high]: Range,
): void {
  const features = matches.map(({ id, score, geom }) => ({
    type: 'Feature' as const,
    properties: { id, score, side: like.includes(id) ? 'like' : unlike.includes(id) ? 'unlike' : null },
    geometry: geom,
  }))
  setFeatures(map, 'matches', features)
  const step = Math.max(high - low, 1e-9) / (SIMILARITY_RAMP.length - 1)
  const stops = SIMILARITY_RAMP.flatMap((color, i) => [low + i * step, color])
  const ramp = ['interpolate', ['linear'], ['get', 'score'], ...stops] as ExpressionSpecification
  map.setPaintProperty('matches-fill', 'fill-color', ramp)
}

/** Outlines the reference tiles and a selected one. */
export function showFocus(map: MapLibreMap, examples: readonly string[], focusId: string | null): void {
  map.setFilter('query-line', ['in', ['get', 'id'], ['literal', [...examples, focusId ?? '']]])
}

/** Sets the opacity of matches, 0 to 1. */
export function showShade(map: MapLibreMap, opacity: number): void {
  map.setPaintProperty('matches-fill', 'fill-opacity', opacity)
}

/** Hides matches below a score. */
export function showFrom(map: MapLibreMap, least: number): void {
  map.setFilter('matches-fill', ['>=', ['get', 'score'], least])
}

function setFeatures(map: MapLibreMap, source: string, features: GeoJSON.Feature[]): void {
  void map.getSource<GeoJSONSource>(source)?.setData({ type: 'FeatureCollection', features })
}
