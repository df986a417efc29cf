import type { OnProgress } from '@terrane/core'
import type { OsmBlock, OsmHeader } from '../block.ts'
import type { OsmReader } from '../reader.ts'
import { FeatureBuilder } from './feature-builder.ts'
import type { FeatureBuilderOptions } from './feature-builder.ts'
import type { FeatureCounts, FeatureVisitor } from './feature.ts'

/** Limits, and the area: features that touch it are visited, whole. */
export interface ReadFeaturesOptions extends FeatureBuilderOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

export interface ReadFeaturesResult {
  readonly header: OsmHeader
  readonly counts: FeatureCounts
}

/**
 * Turns the elements of a file into features with geometry, in two passes: nodes and relations, then ways; relations
 * come last, from the ways that the second pass kept for them. Memory: 10 bytes per node of the file and 8 per point of
 * the ways of relations, or as much as `spill` allows; 8 per feature, the tags of the relations, 8 for each of their ways
 * and 12 for each where members are wanted. The file may have any order.
 *
 * @throws OSM_TOO_LARGE when the file has more nodes than allowed, and what the reader and the temporary files throw
 */
export async function readFeatures(
  reader: OsmReader,
  visitor: FeatureVisitor,
  options: ReadFeaturesOptions = {},
): Promise<ReadFeaturesResult> {
  using builder = new FeatureBuilder(visitor, options)
  const { signal, onProgress } = options
  const pass = async (phase: string, ways: boolean, take: (block: OsmBlock) => Iterable<void>): Promise<OsmHeader> =>
    reader.read(
      async (block) => {
        for (const _ of take(block)) await visitor.drain?.()
        await visitor.drain?.()
      },
      {
        kinds: ways ? { ways } : { nodes: true, relations: true },
        ...(signal && { signal }),
        onBytes: (done) => onProgress?.({ phase, done, total: reader.source.size, unit: 'bytes' }),
      },
    )
  const header = await pass('nodes', false, (block) => {
    builder.takeRelations(block.relations, block.strings)
    return builder.takeNodes(block.nodes, block.strings)
  })
  builder.beginWays()
  await pass('ways', true, (block) => builder.takeWays(block.ways, block.strings))
  const relations = builder.relationCount
  for (let done = 0; done < relations; done++) {
    for (const _ of builder.buildRelation(done)) await visitor.drain?.()
    if (done % RELATIONS_PER_TURN !== 0) continue
    signal?.throwIfAborted()
    onProgress?.({ phase: 'relations', done, total: relations, unit: 'relations' })
    await visitor.drain?.()
  }
  await visitor.drain?.()
  return { header, counts: builder.counts }
}

const RELATIONS_PER_TURN = 64
