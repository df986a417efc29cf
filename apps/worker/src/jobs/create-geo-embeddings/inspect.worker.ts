import { parentPort } from 'node:worker_threads'
import { toPlainError } from '@terrane/core'
import { clampedShares, createCrsCatalogue, inspectGeoTiff, openFileSource, settleScale } from '@terrane/tiling/raster'
import type { InspectReply, InspectTask } from './inspect.ts'

// Headers can be megabytes and the scale needs pixels: both would hold up the worker's event loop.
const reply = (message: InspectReply) => parentPort!.postMessage(message)

parentPort!.on('message', (task: InspectTask) => void inspect(task))

async function inspect({ path, request, crs, scale }: InspectTask): Promise<void> {
  try {
    using source = openFileSource(path)
    const inspected = inspectGeoTiff(source, { ...request, crs: createCrsCatalogue(crs) })
    reply({ type: 'inspected', inspected })
    if (scale === null) return
    const settled = await settleScale(source, inspected, scale)
    reply({ type: 'scaled', scale: settled, clamped: await clampedShares(source, inspected, settled) })
  } catch (error) {
    reply({ type: 'refused', error: toPlainError(error) })
  }
}
