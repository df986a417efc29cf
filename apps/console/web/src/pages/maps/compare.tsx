import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapDocument } from '@terrane/map-style'
import { Button, IconButton, Segmented } from '../../components/basics.tsx'
import { projectPath } from '../../lib/api.ts'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { drawMap } from '../../map/draw-map.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'
import { Choice, Slider } from './controls.tsx'

/** Ids of two rasters that are compared, such as two dates of a place. */
interface Pair {
  readonly left: string
  readonly right: string
}

/** The rasters that are compared, while the map has both, and the map to draw beneath. */
export function usePair(map: MapDocument) {
  const [chosen, setPair] = useState<Pair | null>(null)
  const isThere = chosen && [chosen.left, chosen.right].every((id) => map.layers.some((layer) => layer.id === id))
  const pair = isThere ? chosen : null
  const drawn = useMemo(() => (pair ? withOneOf(map, pair.right, pair.left) : map), [map, pair])
  return { pair, setPair, drawn }
}

/** The map with one raster of a pair, without the other. */
function withOneOf(map: MapDocument, shown: string, hidden: string): MapDocument {
  const layers = map.layers.map((layer) =>
    layer.id === shown || layer.id === hidden ? { ...layer, isShown: layer.id === shown } : layer,
  )
  return { ...map, layers }
}

/** Draws a map of the project. */
export function useDrawn(map: MapLibreMap | null, document_: MapDocument, ref: string): void {
  const dark = useStore(isDark)
  useEffect(() => {
    if (map?.style) drawMap(map, document_, `${location.origin}${projectPath(ref)}`, dark)
  }, [map, document_, dark])
}

const MODES = [
  { value: 'swipe', label: 'Swipe' },
  { value: 'fade', label: 'Fade' },
] as const

/**
 * Compares two rasters of a map: a second map with one raster lies over the map with the other, cut off at a line or
 * translucent.
 */
export function Compare(props: {
  projectRef: string
  map: MapLibreMap | null
  document_: MapDocument
  pair: Pair | null
  onPair: (pair: Pair | null) => void
}): JSX.Element | null {
  const { projectRef, map, document_, pair, onPair } = props
  const rasters = document_.layers.filter((layer) => layer.kind === 'raster')
  const [mode, setMode] = useState<'swipe' | 'fade'>('swipe')
  const [at, setAt] = useState(50)
  if (rasters.length < 2) return null
  if (!pair)
    return (
      <div class="compare">
        <Button kind="small" onClick={() => onPair({ left: rasters[1]!.id, right: rasters[0]!.id })}>
          Compare two rasters
        </Button>
      </div>
    )
  const names = rasters.map(({ id, title }) => [id, title] as const)
  const style = mode === 'swipe' ? { clipPath: `inset(0 ${100 - at}% 0 0)` } : { opacity: at / 100 }
  return (
    <>
      <div class="compare-over" style={style} aria-hidden="true" inert>
        <Over projectRef={projectRef} map={map} document_={document_} pair={pair} />
      </div>
      {mode === 'swipe' && <div class="compare-line" style={{ left: `${at}%` }} />}
      <div class="compare on">
        <Slider
          label={mode === 'swipe' ? 'Position of the divider' : 'Opacity of the left raster'}
          value={at}
          range={[0, 100, 1]}
          onSlide={setAt}
        />
        <div class="row">
          <Choice
            label="Left raster"
            value={pair.left}
            options={names}
            onChoose={(left) => onPair({ ...pair, left })}
          />
          <Segmented label="Compare by" value={mode} options={MODES} onChange={setMode} />
          <Choice
            label="Right raster"
            value={pair.right}
            options={names}
            onChoose={(right) => onPair({ ...pair, right })}
          />
          <IconButton label="End the comparison" icon="close" onClick={() => onPair(null)} />
        </div>
      </div>
    </>
  )
}

/** A map over another one, with the same view. */
function Over(props: { projectRef: string; map: MapLibreMap | null; document_: MapDocument; pair: Pair }): JSX.Element {
  const { projectRef, map, document_, pair } = props
  const [over, setOver] = useState<MapLibreMap | null>(null)
  const drawn = useMemo(() => withOneOf(document_, pair.left, pair.right), [document_, pair])
  useDrawn(over, drawn, projectRef)
  useEffect(() => {
    if (!map || !over) return
    const follow = () => over.jumpTo({ center: map.getCenter(), zoom: map.getZoom() })
    follow()
    map.on('move', follow)
    return () => void map.off('move', follow)
  }, [map, over])
  return <MapCanvas label="The left raster" projectRef={projectRef} onMap={setOver} />
}
