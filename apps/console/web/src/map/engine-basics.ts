import {
  AttributionControl,
  NavigationControl,
  ScaleControl,
  addProtocol,
  setWorkerUrl,
  type Map as MapLibreMap,
} from 'maplibre-gl'
import { Protocol } from 'pmtiles'

/** Sets the program of the engine's workers, and registers PMTiles with the engine. Returns the known archives. */
export function startEngine(workerUrl: string): Protocol {
  setWorkerUrl(workerUrl)
  // With metadata, for the display of the archive's attribution.
  const archives = new Protocol({ metadata: true })
  addProtocol('pmtiles', archives.tile)
  return archives
}

/** Adds zoom buttons, the attribution, and a scale. */
export function addControls(map: MapLibreMap): void {
  map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
  // Never collapsed, because licences require a visible attribution.
  map.addControl(new AttributionControl({ compact: false }), 'bottom-right')
  map.addControl(new ScaleControl({ maxWidth: 110 }), 'bottom-right')
}
