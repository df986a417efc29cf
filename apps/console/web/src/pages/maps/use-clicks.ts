import { useEffect, useRef } from 'preact/hooks'
import type { Map as MapLibreMap, MapGeoJSONFeature, MapMouseEvent } from 'maplibre-gl'
import type { MapDocument } from '@terrane/map-style'
import { drawnLayers, drawnSource } from '../../map/draw-map.ts'
import type { ClickedFeature } from '../map/feature-card.tsx'

const MAX_CLICKED = 8

/**
 * The features under a click, each once, though several layers of the style draw it.
 *
 * @param titles of layers by the ids of their sources
 */
export function clickedFeatures(
  found: readonly Pick<MapGeoJSONFeature, 'source' | 'id' | 'properties'>[],
  titles: ReadonlyMap<string, string>,
): readonly ClickedFeature[] {
  const all = found.map(({ source, id, properties }) => {
    const feature = { layer: titles.get(source) ?? '', properties: { ...(id !== undefined && { id }), ...properties } }
    return [JSON.stringify(feature), feature] as const
  })
  return [...new Map(all).values()].slice(0, MAX_CLICKED)
}

/** A click shows the features under it. */
export function useClicks(
  map: MapLibreMap | null,
  document_: MapDocument,
  onFeatures: (all: readonly ClickedFeature[]) => void,
) {
  const titles = useRef(new Map<string, string>())
  titles.current = new Map(document_.layers.map(({ id, title }) => [drawnSource(id), title]))
  useEffect(() => {
    if (!map) return
    const at = ({ point: { x, y } }: MapMouseEvent, reach: number) =>
      map.queryRenderedFeatures(
        [
          [x - reach, y - reach],
          [x + reach, y + reach],
        ],
        { layers: drawnLayers(map) },
      )
    const click = (event: MapMouseEvent) => {
      onFeatures(clickedFeatures(at(event, 4), titles.current))
    }
    const move = (event: MapMouseEvent) => {
      map.getCanvas().style.cursor = at(event, 2).length > 0 ? 'pointer' : ''
    }
    map.on('click', click)
    map.on('mousemove', move)
    return () => {
      map.off('click', click)
      map.off('mousemove', move)
    }
  }, [map])
}
