import { useEffect, useRef } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { useStore } from '../lib/store.ts'
import { readLayers } from '../lib/layers.ts'
import { hasSavedLayers, layerBox, showLayers, visibleLayers } from './layers.ts'
import { lookAt } from './look-at.ts'
import { hasSavedView } from './map-canvas.tsx'

/** Maximum layers that are shown before a choice is made. */
const SHOWN_AT_FIRST = 8

/**
 * Draws the project's chosen layers beneath the page's own. Without a saved choice or view it shows the latest layers
 * and moves to them; `stay` leaves the view unchanged, `areasOnly` draws only polygons.
 */
export function useBackdrop(
  map: MapLibreMap | null,
  ref: string,
  beneath: string | null,
  { stay = false, areasOnly = false } = {},
): void {
  const visible = useStore(visibleLayers(ref))
  const looked = useRef(hasSavedView(ref))
  useEffect(() => {
    if (hasSavedLayers(ref)) return
    const abort = new AbortController()
    const chooseFirst = async () => {
      const { data } = await readLayers(ref, abort.signal)
      if (data.length > 0) visibleLayers(ref).set(data.slice(0, SHOWN_AT_FIRST).map(({ path }) => path))
    }
    // Pages with a list of layers report the error.
    chooseFirst().catch(() => {})
    return () => abort.abort()
  }, [ref])
  useEffect(() => {
    // Pages with a list of layers also report an unreadable archive.
    if (map) showLayers(map, ref, visible, { beneath, areasOnly }).catch(() => {})
  }, [map, visible])
  useEffect(() => {
    const [path] = visible
    if (!map || path === undefined || looked.current || stay) return
    looked.current = true
    const look = async () => {
      const box = await layerBox(ref, path)
      if (map.style) lookAt(map, box)
    }
    look().catch(() => {})
  }, [map, visible, stay])
}
