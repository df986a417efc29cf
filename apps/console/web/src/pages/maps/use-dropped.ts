import { useEffect, useRef, useState } from 'preact/hooks'
import type { ExpressionSpecification, Map as MapLibreMap } from 'maplibre-gl'
import { colorOf, type MapLayer } from '@terrane/map-style'
import { toProblem, type Problem } from '../../lib/api.ts'
import { takeDropped, type Dropped } from '../../lib/dropped.ts'
import { fieldsOf, sampleStats } from '../../lib/sample-stats.ts'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { mapColors } from '../../map/colors.ts'
import { drawFeatures, lookAtFeatures, removeFeatures } from '../../map/draw-features.ts'
import { firstColoring } from '../../map/first-coloring.ts'
import { rasterLayer, tableLayer } from '../../map/new-layer.ts'

/** The first features of a file, and their colours; null for one colour. */
interface Preview {
  readonly features: readonly GeoJSON.Feature[]
  readonly color: ExpressionSpecification | null
}

/** State of files that were dropped on the page. */
export interface DroppedState {
  /** Reason why the last one did not become a layer. */
  readonly problem: Problem | null
  /** Number of features that are shown until their tables exist. */
  readonly previewed: number
}

/** Shows the first features of dropped files while they are imported, then adds their tables and rasters as layers. */
export function useDropped(
  ref: string,
  map: MapLibreMap | null,
  onLayers: (made: readonly MapLayer[]) => void,
): DroppedState {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [previews, setPreviews] = useState<ReadonlyMap<string, Preview>>(new Map())
  const dark = useStore(isDark)
  const latest = useRef({ map, onLayers })
  latest.current = { map, onLayers }
  useEffect(() => {
    const withdraw = (id: string) => {
      setPreviews((now) => new Map([...now].filter(([other]) => other !== id)))
      // The preview stays until the tiles of the layer are loaded.
      const { map: shown } = latest.current
      shown?.once('idle', () => removeFeatures(shown, sourceOf(id)))
      shown?.triggerRepaint()
    }
    return takeDropped((dropped) => {
      const { id, preview } = dropped
      if (preview) void coloredPreview(preview).then((made) => setPreviews((now) => new Map([...now, [id, made]])))
      else {
        const take = async () => {
          const { layers, refused } = await layersOf(ref, dropped)
          latest.current.onLayers(layers)
          // A failed drop reports its own error.
          if (refused || layers.length > 0) setProblem(refused)
          withdraw(id)
        }
        void take()
      }
    })
  }, [])
  useEffect(() => {
    if (!map) return
    for (const [id, { features, color }] of previews) {
      const isNew = !map.getSource(sourceOf(id))
      drawFeatures(map, sourceOf(id), features, color ?? mapColors(dark).accent)
      if (isNew) lookAtFeatures(map, features)
    }
  }, [map, previews, dark])
  return { problem, previewed: [...previews.values()].reduce((sum, { features }) => sum + features.length, 0) }
}

/** A preview with the colours that its layer will have, by the values of its features. */
async function coloredPreview(features: readonly GeoJSON.Feature[]): Promise<Preview> {
  const color = await firstColoring(fieldsOf(features), (name) => sampleStats(features, name))
  return { features, color: color && (colorOf(color) as ExpressionSpecification) }
}

const sourceOf = (id: string) => `preview:${id}`

async function layersOf(ref: string, { tables, rasters }: Dropped) {
  const all = await Promise.allSettled([
    ...tables.map((table) => tableLayer(ref, table)),
    ...rasters.map((url) => rasterLayer(ref, url, url.split('/').at(-1) ?? url)),
  ])
  const refused = all.find((one) => one.status === 'rejected')
  return {
    layers: all.flatMap((one): MapLayer[] => (one.status === 'fulfilled' ? [one.value] : [])),
    refused: refused ? toProblem(refused.reason) : null,
  }
}
