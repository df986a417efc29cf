import { ModelSession } from './model-session.ts'
import type { Job } from './protocol.ts'
import { ResultBuffer } from './result-buffer.ts'
import { RunControl } from './run-control.ts'
import { type TileReader, openTileReader } from './tile-source.ts'
import { type Post, hostWorker } from './worker-host.ts'
import { isValidTile } from './valid-tiles.ts'

hostWorker((setup) => ModelSession.open(setup), embedUnits)

/** Claims portions of the tiles until none is left, and reads and embeds them batch by batch. */
async function embedUnits(job: Job, session: ModelSession, post: Post): Promise<void> {
  const { source, from, unit, batch, window } = job
  const control = new RunControl(job.control)
  const reader = await openTileReader(source)
  const pixels = new Float32Array(batch * session.channels * job.height * job.width)
  const results = new ResultBuffer(unit, post)
  try {
    for (;;) {
      const first = from + control.claim() * unit
      const end = Math.min(first + unit, source.count)
      if (first >= source.count || !control.awaitDelivered(end - window)) return
      results.begin(first)
      for (let start = first; start < end; start += batch) {
        if (control.cancelled) return
        await embedBatch({ job, session, reader, pixels, results }, start, Math.min(start + batch, end))
      }
      results.flush()
    }
  } finally {
    reader.close?.()
  }
}

interface Context {
  readonly job: Job
  readonly session: ModelSession
  readonly reader: TileReader
  readonly pixels: Float32Array
  readonly results: ResultBuffer
}

async function embedBatch(
  { job, session, reader, pixels, results }: Context,
  start: number,
  stop: number,
): Promise<void> {
  const tileLength = pixels.length / job.batch
  const tiles: number[] = []
  const fractions: number[] = []
  for (let tile = start; tile < stop; tile++) {
    const slot = pixels.subarray(tiles.length * tileLength, (tiles.length + 1) * tileLength)
    const { validFraction } = await reader.read(tile, slot)
    if (!isValidTile(validFraction, job.minValidFraction)) continue
    tiles.push(tile)
    fractions.push(validFraction)
  }
  const input = { pixels, count: tiles.length, height: job.height, width: job.width }
  const vectors = tiles.length === 0 ? null : await session.embed(input, job, (place) => tiles[place]!)
  results.add(stop, tiles, fractions, vectors)
}
