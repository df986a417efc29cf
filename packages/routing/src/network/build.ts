import type { OsmReader } from '@terrane/osm'

import { buildGraph, type BuildOptions } from '../build/build-graph.ts'
import { packSections, type SectionArray, type SectionSink } from '../graph/sections.ts'
import { NetworkWriter } from './file.ts'
import { type Network, openNetwork, prepareNetwork } from './network.ts'

/**
 * Builds the network of one or several extracts in memory, ready for routing; elements in several of them count once.
 * It blocks the thread for most of its time. `writeNetworkFile(network.file, path)` stores it.
 *
 * @throws EMPTY_NETWORK when there is no way to travel
 */
export async function buildNetwork(readers: readonly OsmReader[], options: BuildOptions = {}): Promise<Network> {
  const arrays: Record<string, SectionArray> = {}
  const meta = await buildInto({ add: (name, array) => (arrays[name] = array) }, readers, options)
  return openNetwork(packSections(arrays, meta))
}

/**
 * Builds the network of one or several extracts as a file. The bytes equal those of `buildNetwork` and
 * `writeNetworkFile`, with less than half of the memory, because written parts are freed. It blocks the thread for most
 * of its time.
 *
 * @throws EMPTY_NETWORK when there is no way to travel
 */
export async function buildNetworkFile(
  readers: readonly OsmReader[],
  path: string,
  options: BuildOptions = {},
): Promise<void> {
  using writer = new NetworkWriter(path)
  writer.finish(await buildInto(writer, readers, options))
}

async function buildInto(
  sink: SectionSink,
  readers: readonly OsmReader[],
  options: BuildOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const { graph, meta } = await buildGraph(readers, sink, options)
  return { ...meta, ...prepareNetwork(graph, sink, options) }
}
