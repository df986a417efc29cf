import { bytesSource, openOsm, writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'

import { type BuildOptions, buildNetwork, type Network } from '../../src/index.ts'

/** The bytes of an extract of the invented town. */
export function townPbf(): Uint8Array {
  const { elements, header } = buildCity()
  return Buffer.concat([...writePbf(elements, header)])
}

let town: Promise<Network> | undefined

/** The network of the invented town, where one drives on the right; it is built once and must not be changed. */
export function openTown(): Promise<Network> {
  return (town ??= buildTown({ drivingSide: 'right' }))
}

/** Builds a network of the invented town with options of its own. */
export async function buildTown(options: BuildOptions): Promise<Network> {
  return buildNetwork([await openOsm(bytesSource(townPbf(), 'town.osm.pbf'))], options)
}

/** The crossing nearest to a share of the town's width and height, for requests that do not know its streets. */
export function placeAt({ graph }: Network, x: number, y: number): { lon: number; lat: number } {
  const [west, east] = [Math.min(...graph.nodeLon), Math.max(...graph.nodeLon)]
  const [south, north] = [Math.min(...graph.nodeLat), Math.max(...graph.nodeLat)]
  const lon = west + (east - west) * x
  const lat = south + (north - south) * y
  let best = 0
  for (let node = 1; node < graph.nodeCount; node++) {
    const far = (at: number): number => Math.hypot(graph.nodeLon[at]! - lon, graph.nodeLat[at]! - lat)
    if (far(node) < far(best)) best = node
  }
  return { lon: graph.nodeLon[best]! / 1e7, lat: graph.nodeLat[best]! / 1e7 }
}
