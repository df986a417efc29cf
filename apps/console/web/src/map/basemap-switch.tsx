import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { BASEMAP_ARCHIVE } from '@terrane/map-style/basemap'
import { session } from '../lib/api.ts'
import { useStore } from '../lib/store.ts'
import { useResource, useRetried } from '../lib/use-resource.ts'
import {
  WORLD_ZOOM,
  chosenBasemap,
  readOwnBasemap,
  showBasemap,
  type Basemap,
  type OwnBasemap,
  type ShownBasemap,
} from './basemap.ts'
import { readLayers } from '../lib/layers.ts'
import { showGraticule } from './engine.ts'
import { keepNamesOnTop } from './names-on-top.ts'

type ProjectBasemap = `${typeof BASEMAP_ARCHIVE}${string}`

/** Maximum attempts to read a basemap, and the delay between them in milliseconds. */
const MOST_TRIES = 5
const AGAIN_MS = 3000

const NONE: OwnBasemap = { kind: 'none', url: '', attribution: '' }

/** Chooses the basemap, for all maps of this browser, and draws it. */
export function BasemapSwitch(props: { map: MapLibreMap; projectRef: string; dark: boolean }): JSX.Element {
  const { map, projectRef, dark } = props
  const chosen = useStore(chosenBasemap)
  // A public map has no session, and the operator's basemap is for members only.
  const isMember = Boolean(session.get())
  const asked = useRetried(useResource(isMember ? 'basemap' : null, readOwnBasemap))
  const own = asked.value ?? NONE
  const archives = useRetried(
    useResource(isMember ? `basemaps ${projectRef}` : null, (signal) => readBasemaps(projectRef, signal)),
  )
  const hasOwn = own.kind !== 'none'
  const names = archives.value ?? []
  const isThere = chosen === 'own' ? hasOwn : chosen === 'world' || chosen === 'plain' || names.includes(nameOf(chosen))
  const shown = (isThere ? chosen : null) ?? names[0] ?? (hasOwn ? 'own' : 'world')
  const isSettled = (of: typeof asked | typeof archives) => !isMember || of.value !== undefined || of.problem !== null
  const settled = isSettled(asked) && isSettled(archives)
  useDrawnBasemap(map, settled, { ref: projectRef, basemap: shown, own, dark })
  useEffect(() => keepNamesOnTop(map), [map])
  useEffect(() => showGraticule(map, !names.includes(nameOf(shown))), [map, shown, names.length])
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
          {names.map((name) => (
            <>
              <option value={name}>{labelOf(name)}</option>
              <option value={`${name}/grey`}>{labelOf(name)}, grey</option>
            </>
          ))}
          {hasOwn && <option value="own">Map</option>}
          <option value="world">World</option>
          <option value="plain">None</option>
        </select>
      </label>
      {shown === 'world' && isBeyond && <span class="dim">Land and borders end at zoom {WORLD_ZOOM}</span>}
    </div>
  )
}

/** Draws a basemap. If it cannot be read, the map is not changed. */
function useDrawnBasemap(map: MapLibreMap, settled: boolean, wanted: Omit<ShownBasemap, 'signal'>): void {
  const [tries, setTries] = useState(1)
  useEffect(() => {
    if (!settled) return
    let timer = 0
    const abort = new AbortController()
    const { signal } = abort
    showBasemap(map, { ...wanted, signal }).catch(() => {
      if (!signal.aborted && tries < MOST_TRIES) timer = setTimeout(() => setTries(tries + 1), AGAIN_MS)
    })
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [map, settled, tries, ...Object.values(wanted)])
}

/** Basemaps of the project: names of archives, the latest first. */
async function readBasemaps(ref: string, signal: AbortSignal): Promise<readonly ProjectBasemap[]> {
  const { data } = await readLayers(ref, signal)
  return data.flatMap(({ name }) => (name.startsWith(BASEMAP_ARCHIVE) ? [name as ProjectBasemap] : []))
}

function nameOf(basemap: Basemap | null): ProjectBasemap {
  return (basemap ?? '').split('/')[0] as ProjectBasemap
}

function labelOf(name: string): string {
  const words = name.slice(BASEMAP_ARCHIVE.length).replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** True while the map's zoom is at least the given one. */
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
