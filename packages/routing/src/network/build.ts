import type { OsmReader } from '@terrane/osm'

import { buildGraph, type BuildOptions } from '../build/build-graph.ts'
import { type Network, openNetwork, prepareNetwork } from './network.ts'

/**
 * Builds the network of one or several extracts, ready to route on; elements that several of them hold count once. It
 * blocks the thread for most of its time. `writeNetworkFile(network.file, path)` keeps it.
 *
 * @throws EMPTY_NETWORK when there is no way to travel
 */
export async function buildNetwork(readers: readonly OsmReader[], options: BuildOptions = {}): Promise<Network> {
  const { file } = await buildGraph(readers, options)
  return openNetwork(prepareNetwork(file, options))
}
