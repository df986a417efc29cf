import type { Map as MapLibreMap } from 'maplibre-gl'

/** Prefix of the ids of a basemap's layers and sources. */
export const BASEMAP_PREFIX = 'base:'

/** Keeps the names of a basemap above layers that are added later. Returns a function that stops it. */
export function keepNamesOnTop(
  map: Pick<MapLibreMap, 'getLayersOrder' | 'getLayer' | 'moveLayer' | 'on' | 'off'>,
): () => void {
  const raise = () => {
    const order = map.getLayersOrder()
    const names = order.filter((id) => id.startsWith(BASEMAP_PREFIX) && map.getLayer(id)?.type === 'symbol')
    // Moving layers triggers this handler again, so it returns when the order is right.
    if (order.slice(order.length - names.length).join() === names.join()) return
    for (const id of names) map.moveLayer(id)
  }
  map.on('styledata', raise)
  return () => void map.off('styledata', raise)
}
