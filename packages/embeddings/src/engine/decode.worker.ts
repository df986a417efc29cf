import type { Job } from './protocol.ts'
import { ON_CPU } from './providers.ts'
import { RunControl } from './run-control.ts'
import { openTileReader } from './tile-source.ts'
import { hostWorker } from './worker-host.ts'

hostWorker(() => Promise.resolve({ choice: ON_CPU, hasFreeBatch: false }), decodeTiles)

/** Reads all tiles in order into the ring, group by group. */
async function decodeTiles(job: Job): Promise<void> {
  const { source, from, batch, ring } = job
  if (!ring) throw new Error('a decoding thread needs a ring')
  const control = new RunControl(job.control)
  const pixels = new Float32Array(ring.pixels)
  const fractions = new Float32Array(ring.fractions)
  const tileLength = pixels.length / fractions.length
  const reader = await openTileReader(source)
  try {
    for (let group = 0; from + group * batch < source.count; group++) {
      if (!control.awaitReleased(group + 1 - ring.groups)) return
      const start = from + group * batch
      const stop = Math.min(start + batch, source.count)
      const firstSlot = (group % ring.groups) * batch
      for (let tile = start; tile < stop; tile++) {
        const slot = firstSlot + tile - start
        const { validFraction } = await reader.read(tile, pixels.subarray(slot * tileLength, (slot + 1) * tileLength))
        fractions[slot] = validFraction
      }
      control.publish(group + 1)
    }
  } finally {
    reader.close?.()
  }
}
