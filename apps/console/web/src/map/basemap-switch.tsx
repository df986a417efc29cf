import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { session } from '../lib/api.ts'
import { useStore } from '../lib/store.ts'
import { useResource } from '../lib/use-resource.ts'
import { WORLD_ZOOM, chosenBasemap, readOwnBasemap, showBasemap, type Basemap, type OwnBasemap } from './basemap.ts'
import { keepNamesOnTop } from './names-on-top.ts'

const NONE: OwnBasemap = { kind: 'none', url: '', attribution: '' }

/** Chooses the basemap beneath the data, for all maps of this browser, and draws it. */
export function BasemapSwitch({ map, dark }: { map: MapLibreMap; dark: boolean }): JSX.Element {
  const chosen = useStore(chosenBasemap)
  // A public map has no session; the operator's basemap is for members.
  const isMember = Boolean(session.get())
  const asked = useResource(isMember ? 'basemap' : null, readOwnBasemap)
  const own = asked.value ?? NONE
  const hasOwn = own.kind !== 'none'
  const shown: Basemap = (chosen === 'own' && !hasOwn ? null : chosen) ?? (hasOwn ? 'own' : 'world')
  const settled = !isMember || asked.value !== undefined || asked.problem !== null
  useEffect(() => {
    // A basemap that cannot be read leaves the map as it is.
    if (settled) showBasemap(map, shown, own, dark).catch(() => {})
  }, [map, shown, own, dark, settled])
  useEffect(() => keepNamesOnTop(map), [map])
  const isBeyond = useIsBeyond(map, WORLD_ZOOM)
  return (
    <div class="basemap-switch">
      <label>
        <span>Basemap</span>
        <select
          class="select"
          value={shown}
          onChange={(event) => chosenBasemap.set(event.currentTarget.value as Basemap)}
        >
          {hasOwn && <option value="own">Map</option>}
          <option value="world">World</option>
          <option value="plain">None</option>
        </select>
      </label>
      {shown === 'world' && isBeyond && <span class="dim">Land and borders end at zoom {WORLD_ZOOM}</span>}
    </div>
  )
}

/** True while the map is zoomed in further than a zoom. */
function useIsBeyond(map: MapLibreMap, zoom: number): boolean {
  const [isBeyond, setIsBeyond] = useState(map.getZoom() >= zoom)
  useEffect(() => {
    const look = () => setIsBeyond(map.getZoom() >= zoom)
    look()
    map.on('zoom', look)
    return () => void map.off('zoom', look)
  }, [map, zoom])
  return isBeyond
}
