import type { Map as MapLibreMap } from 'maplibre-gl'

/** Ids of the layers and sources of a basemap begin with it. */
export const BASEMAP_PREFIX = 'base:'

/** Keeps the names of a basemap above data that is drawn later. Returns a function that stops it. */
export function keepNamesOnTop(
  map: Pick<MapLibreMap, 'getLayersOrder' | 'getLayer' | 'moveLayer' | 'on' | 'off'>,
): () => void {
  const raise = () => {
    const order = map.getLayersOrder()
    const names = order.filter((id) => id.startsWith(BASEMAP_PREFIX) && map.getLayer(id)?.type === 'symbol')
    // Moving layers changes the style again, so it must end.
    if (order.slice(order.length - names.length).join() === names.join()) return
    for (const id of names) map.moveLayer(id)
  }
  map.on('styledata', raise)
  return () => void map.off('styledata', raise)
}
