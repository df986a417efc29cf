import { useEffect, useRef, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import type { MapLayer, VectorLayer } from '@terrane/map-style'
import { toProblem, type Problem } from '../../lib/api.ts'
import { takeDropped, type Dropped } from '../../lib/dropped.ts'
import { drawnSource } from '../../map/draw-map.ts'
import { drawStyled, removeFeatures } from '../../map/draw-features.ts'
import { lookAt } from '../../map/look-at.ts'
import { previewLayer, rasterLayer, tableLayer } from '../../map/new-layer.ts'

/** The first features of a file, and the layer that they will have. */
interface Preview {
  readonly features: readonly GeoJSON.Feature[]
  readonly layer: VectorLayer
}

/** State of files that were dropped on the page. */
export interface DroppedState {
  /** Reason why the last one did not become a layer. */
  readonly problem: Problem | null
  /** Layers of features that are shown until their tables exist, and the number of these features. */
  readonly previews: readonly VectorLayer[]
  readonly previewed: number
  /** True while a dropped file is imported. */
  readonly isImporting: boolean
}

/** Shows the first features of dropped files while they are imported, then adds their tables and rasters as layers. */
export function useDropped(
  ref: string,
  map: MapLibreMap | null,
  onLayers: (made: readonly MapLayer[]) => void,
): DroppedState {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [previews, setPreviews] = useState<ReadonlyMap<string, Preview>>(new Map())
  const [importing, setImporting] = useState<ReadonlySet<string>>(new Set())
  const latest = useRef({ map, onLayers })
  latest.current = { map, onLayers }
  useEffect(() => {
    const withdrawn = new Set<string>()
    const withdraw = (id: string, layers: readonly MapLayer[]) => {
      withdrawn.add(id)
      setImporting((now) => new Set([...now].filter((other) => other !== id)))
      setPreviews((now) => new Map([...now].filter(([other]) => other !== id)))
      const { map: shown } = latest.current
      if (shown) removeOnceDrawn(shown, sourceOf(id), layers)
    }
    return takeDropped((dropped) => {
      const { id, preview } = dropped
      if (preview) {
        const { features, table } = preview
        setImporting((now) => new Set([...now, id]))
        if (features.length === 0) return
        const show = (layer: VectorLayer) => {
          if (!withdrawn.has(id)) setPreviews((now) => new Map([...now, [id, { features, layer }]]))
        }
        // Without a preview, the layer appears after the import.
        previewLayer(table, features).then(show, () => {})
      } else {
        const take = async () => {
          const { layers, refused } = await layersOf(ref, dropped)
          latest.current.onLayers(layers)
          // A failed drop reports its own error.
          if (refused || layers.length > 0) setProblem(refused)
          withdraw(id, layers)
        }
        void take()
      }
    })
  }, [])
  useEffect(() => {
    if (!map) return
    for (const [id, { features, layer }] of previews) {
      if (map.getSource(sourceOf(id))) continue
      lookAt(map, layer.bounds)
      drawStyled(map, sourceOf(id), features, layer)
    }
  }, [map, previews])
  const all = [...previews.values()]
  return {
    problem,
    previews: all.map(({ layer }) => layer),
    previewed: all.reduce((sum, { features }) => sum + features.length, 0),
    isImporting: importing.size > 0,
  }
}

const sourceOf = (id: string) => `preview:${id}`

/**
 * Removes a preview when the tiles of its layers are loaded, or the layers are deleted; drawing both at once takes twice
 * as long.
 */
function removeOnceDrawn(map: MapLibreMap, source: string, layers: readonly MapLayer[]): void {
  const added = new Set<string>()
  const isLoaded = (id: string) => {
    if (map.getSource(id) === undefined) return added.has(id)
    added.add(id)
    return map.isSourceLoaded(id)
  }
  const look = () => {
    if (!layers.every(({ id }) => isLoaded(drawnSource(id)))) return
    map.off('render', look)
    removeFeatures(map, source)
  }
  map.on('render', look)
  map.triggerRepaint()
}

async function layersOf(ref: string, { tables, rasters }: Dropped) {
  const all = await Promise.allSettled([
    ...tables.map((table) => tableLayer(ref, table)),
    ...rasters.map((url) => rasterLayer(ref, url)),
  ])
  const refused = all.find((one) => one.status === 'rejected')
  return {
    layers: all.flatMap((one): MapLayer[] => (one.status === 'fulfilled' ? [one.value] : [])),
    refused: refused ? toProblem(refused.reason) : null,
  }
}
