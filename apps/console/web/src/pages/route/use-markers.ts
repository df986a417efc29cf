import { useEffect, useRef } from 'preact/hooks'
import { Marker, type Map as MapLibreMap } from 'maplibre-gl'
import { readStop, stopName, stopText, type Stop } from './stops.ts'

/** Pins of the stops on a map; a dragged pin moves its stop. */
export function useMarkers(
  map: MapLibreMap | null,
  stops: readonly Stop[],
  onChange: (change: (stops: readonly Stop[]) => readonly Stop[]) => void,
): void {
  const markers = useRef(new Map<number, Marker>())
  useEffect(() => {
    if (!map) return
    return () => {
      for (const marker of markers.current.values()) marker.remove()
      markers.current.clear()
    }
  }, [map])
  useEffect(() => {
    if (!map) return
    const kept = new Set<number>()
    for (const [i, stop] of stops.entries()) {
      const place = readStop(stop)
      if (!place) continue
      kept.add(stop.key)
      const marker = markers.current.get(stop.key) ?? addMarker(stop.key, onChange)
      markers.current.set(stop.key, marker)
      marker.setLngLat(place).addTo(map)
      const pin = marker.getElement()
      pin.textContent = stopName(i)
      pin.setAttribute('aria-label', `Place ${stopName(i)}`)
    }
    for (const [key, marker] of markers.current) {
      if (kept.has(key)) continue
      marker.remove()
      markers.current.delete(key)
    }
  }, [map, stops])
}

function addMarker(key: number, onChange: Parameters<typeof useMarkers>[2]): Marker {
  const element = document.createElement('div')
  element.className = 'pin marker'
  element.setAttribute('role', 'img')
  const marker = new Marker({ element, draggable: true })
  marker.on('dragend', () => {
    const text = stopText(marker.getLngLat())
    onChange((stops) => stops.map((stop) => (stop.key === key ? { ...stop, text } : stop)))
  })
  // A click on a pin must not count as a click on the map.
  element.addEventListener('click', (event) => event.stopPropagation())
  return marker
}
