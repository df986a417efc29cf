import { useEffect, useRef } from 'preact/hooks'
import type { Map as MapLibreMap, MapMouseEvent } from 'maplibre-gl'
import type { MapDocument } from '@terrane/map-style'
import { drawnLayers, drawnSource } from '../../map/draw-map.ts'
import type { ClickedFeature } from '../map/feature-card.tsx'

const MAX_CLICKED = 8

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
      const found = at(event, 4).map(({ source, id, properties }) => {
        const feature = {
          layer: titles.current.get(source) ?? '',
          properties: { ...(id !== undefined && { id }), ...properties },
        }
        return [JSON.stringify(feature), feature] as const
      })
      onFeatures([...new Map(found).values()].slice(0, MAX_CLICKED))
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
