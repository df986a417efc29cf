import { ModelSession } from './model-session.ts'
import type { Job } from './protocol.ts'
import { ResultBuffer } from './result-buffer.ts'
import { RunControl } from './run-control.ts'
import { type Post, hostWorker } from './worker-host.ts'
import { isValidTile } from './valid-tiles.ts'

hostWorker((setup) => ModelSession.open(setup), inferTiles)

/** Embeds the tiles of the decoding thread from the ring, group by group. */
async function inferTiles(job: Job, session: ModelSession, post: Post): Promise<void> {
  const { source, from, batch, ring } = job
  if (!ring) throw new Error('an inferring thread needs a ring')
  const control = new RunControl(job.control)
  const allPixels = new Float32Array(ring.pixels)
  const allFractions = new Float32Array(ring.fractions)
  const groupLength = allPixels.length / ring.groups
  const results = new ResultBuffer(job.unit, post)
  results.begin(from)
  for (let group = 0; from + group * batch < source.count; group++) {
    const start = from + group * batch
    const stop = Math.min(start + batch, source.count)
    if (!control.awaitDelivered(stop - job.window) || !control.awaitPublished(group + 1)) return
    const place = group % ring.groups
    const pixels = allPixels.subarray(place * groupLength, (place + 1) * groupLength)
    const { tiles, fractions } = keepValid(job, pixels, allFractions.subarray(place * batch), [start, stop])
    const input = { pixels, count: tiles.length, height: job.height, width: job.width }
    const vectors = tiles.length === 0 ? null : await session.embed(input, job, (at) => tiles[at]!)
    control.release(group + 1)
    results.add(stop, tiles, fractions, vectors)
  }
  results.flush()
}

interface Kept {
  readonly tiles: readonly number[]
  readonly fractions: readonly number[]
}

/** Moves the tensors of tiles with enough data together at the start of `pixels`. */
function keepValid(
  job: Job,
  pixels: Float32Array,
  groupFractions: Float32Array,
  [start, stop]: [number, number],
): Kept {
  const tileLength = pixels.length / job.batch
  const tiles: number[] = []
  const fractions: number[] = []
  for (let tile = start; tile < stop; tile++) {
    const fraction = groupFractions[tile - start]!
    if (!isValidTile(fraction, job.minValidFraction)) continue
    const slot = tile - start
    if (slot !== tiles.length) pixels.copyWithin(tiles.length * tileLength, slot * tileLength, (slot + 1) * tileLength)
    tiles.push(tile)
    fractions.push(fraction)
  }
  return { tiles, fractions }
}
