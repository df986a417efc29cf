import { useEffect } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'

/** Draws something while the map exists, and removes it before it is drawn again. */
export function useDrawn(
  map: MapLibreMap | null,
  values: readonly unknown[],
  draw: (map: MapLibreMap) => void,
  remove: (map: MapLibreMap) => void,
): void {
  useEffect(() => {
    if (!map) return
    draw(map)
    return () => {
      if (map.style) remove(map)
    }
  }, [map, ...values])
}
