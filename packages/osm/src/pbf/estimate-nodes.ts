import { BlockColumns } from '../block.ts'
import { osmTooLarge } from '../errors.ts'
import type { RandomAccess } from '../source.ts'
import { unpackBlob, walkBlobs } from './blob.ts'
import type { BlobPlace } from './blob.ts'
import { decodeBlock } from './decode.ts'

/** Sections of a file at whose ends blobs are decoded. */
const STRETCHES = 32
/** Maximum number of blob positions in memory; the planet has about a million blobs. */
const MOST_BLOBS = 2 ** 21

/**
 * Estimates the number of nodes of a PBF file. Its header has no counts, so the headers of all blobs are read, and some
 * blobs are decoded: those at the ends of 32 sections, and by bisection in sections where nodes begin or end. Blobs
 * between two decoded ones count like the fuller of them. Exact if all blobs of nodes but the last have the same number
 * of nodes, as is usual.
 *
 * @param most maximum number of blobs
 * @throws OSM_TOO_LARGE where there are more, and what a damaged file throws
 */
export async function estimateNodes(file: RandomAccess, signal?: AbortSignal, most = MOST_BLOBS): Promise<number> {
  const blobs: BlobPlace[] = []
  for await (const blob of walkBlobs(file)) {
    signal?.throwIfAborted()
    if (blobs.push(blob) > most) throw osmTooLarge({ what: 'The number of blobs', size: blobs.length, limit: most })
  }
  if (blobs.length === 0) return 0
  const block = new BlockColumns()
  const nodesOf = async (number: number): Promise<number> => {
    signal?.throwIfAborted()
    const { at, size } = blobs[number]!
    const bytes = await file.read(at, size)
    decodeBlock(await unpackBlob({ type: 'OSMData', bytes, at }, true), { nodes: true }, block)
    return block.nodes.count
  }
  /** Number of nodes of the blobs between two blobs with known numbers. */
  const between = async (low: number, high: number, lowNodes: number, highNodes: number): Promise<number> => {
    const blobsBetween = high - low - 1
    if (blobsBetween <= 0) return 0
    if (lowNodes > 0 === highNodes > 0) return blobsBetween * Math.max(lowNodes, highNodes)
    const middle = (low + high) >>> 1
    const nodes = await nodesOf(middle)
    return nodes + (await between(low, middle, lowNodes, nodes)) + (await between(middle, high, nodes, highNodes))
  }
  let total = 0
  let low = -1
  let lowNodes = 0
  for (let stretch = 0; stretch <= STRETCHES; stretch++) {
    const high = Math.round((stretch * (blobs.length - 1)) / STRETCHES)
    if (high <= low) continue
    const nodes = await nodesOf(high)
    total += nodes + (await between(low, high, lowNodes, nodes))
    low = high
    lowNodes = nodes
  }
  return total
}
