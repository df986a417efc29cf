import { boxRing } from '@terrane/core'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Map as MapLibreMap } from 'maplibre-gl'
import { useStore } from '../../lib/store.ts'
import { isDark } from '../../lib/theme.ts'
import { showArea } from '../../map/area-layer.ts'
import type { Box } from '../../map/graticule.ts'
import { lookAt } from '../../map/look-at.ts'
import { MapCanvas } from '../../map/map-canvas.tsx'

/** A map of a file's extent. */
export function ExtentMap({ projectRef, extent }: { projectRef: string; extent: Box }): JSX.Element {
  const [map, setMap] = useState<MapLibreMap | null>(null)
  const dark = useStore(isDark)
  useEffect(() => {
    if (map) lookAt(map, extent, 14)
  }, [map, extent])
  useEffect(() => {
    if (map) showArea(map, [[boxRing(extent)]], dark)
  }, [map, extent, dark])
  return <MapCanvas label="Extent of the file" projectRef={projectRef} onMap={setMap} />
}
