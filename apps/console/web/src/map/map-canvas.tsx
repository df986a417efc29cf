import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { useStore } from '../lib/store.ts'
import { isDark } from '../lib/theme.ts'
import { BasemapSwitch } from './basemap-switch.tsx'
import { createMap, setMapTheme, type MapView, type PixelBox } from './engine.ts'

export interface MapCanvasProps {
  /** Description of the map for screen readers. */
  readonly label: string
  readonly projectRef: string
  /** Called when the map is ready, and with null when it is removed. */
  readonly onMap: (map: MapLibreMap | null) => void
  readonly children?: ComponentChildren
}

/** A map that remembers its last view in the project. */
export function MapCanvas({ label, projectRef, onMap, children }: MapCanvasProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const current = useRef<MapLibreMap | null>(null)
  const [shown, setShown] = useState<MapLibreMap | null>(null)
  const dark = useStore(isDark)
  useEffect(() => {
    if (!box.current) return
    const map = createMap({
      container: box.current,
      dark: isDark.get(),
      view: savedView(projectRef),
      covers: () => coversIn(box.current?.parentElement ?? null),
    })
    map.getCanvas().setAttribute('aria-label', label)
    map.on('load', () => {
      current.current = map
      setMapTheme(map, isDark.get())
      onMap(map)
      setShown(map)
    })
    map.on('moveend', () => saveView(projectRef, map))
    // Set for code that waits until everything is drawn, such as tests.
    const frame = box.current
    map.on('idle', () => (frame.dataset['drawn'] = 'true'))
    map.on('dataloading', () => (frame.dataset['drawn'] = 'false'))
    map.on('movestart', () => (frame.dataset['drawn'] = 'false'))
    return () => {
      current.current = null
      setShown(null)
      onMap(null)
      map.remove()
    }
  }, [projectRef])
  useEffect(() => {
    if (current.current) setMapTheme(current.current, dark)
  }, [dark])
  return (
    <div class="map-box" aria-busy={shown === null}>
      <div class="canvas" ref={box} />
      {shown && <BasemapSwitch map={shown} projectRef={projectRef} dark={dark} />}
      {children}
    </div>
  )
}

/** True when this browser has a saved view of the project. */
export function hasSavedView(projectRef: string): boolean {
  return savedView(projectRef) !== null
}

/** Elements over the edges of a map, where its graticule is labelled: title, zoom buttons, choice of basemap. */
function coversIn(box: HTMLElement | null): readonly PixelBox[] {
  if (!box) return []
  const { left, top } = box.getBoundingClientRect()
  const found = box.querySelectorAll('.map-title, .basemap-switch, .maplibregl-ctrl-top-right > *')
  return [...found].map((element) => {
    const edges = element.getBoundingClientRect()
    return [edges.left - left, edges.top - top, edges.right - left, edges.bottom - top]
  })
}

function savedView(projectRef: string): MapView | null {
  try {
    const view = JSON.parse(localStorage.getItem(viewKey(projectRef)) ?? 'null') as MapView | null
    return view && view.center.every(Number.isFinite) && Number.isFinite(view.zoom) ? view : null
  } catch {
    return null
  }
}

function saveView(projectRef: string, map: MapLibreMap): void {
  const { lng, lat } = map.getCenter()
  localStorage.setItem(viewKey(projectRef), JSON.stringify({ center: [lng, lat], zoom: map.getZoom() }))
}

function viewKey(projectRef: string): string {
  return `terrane.view.${projectRef}`
}
