import { parentPort, workerData } from 'node:worker_threads'
import { toPlainError } from '@terrane/core'
import { createCrsCatalogue, inspectGeoTiff, openFileSource, settleScale } from '@terrane/tiling/raster'
import type { InspectReply, InspectTask } from './inspect.ts'

// Headers can be megabytes and the scale needs pixels: both would hold up the worker's event loop.
const task = workerData as InspectTask
const reply = (message: InspectReply) => parentPort?.postMessage(message)
try {
  using source = openFileSource(task.path)
  const inspected = inspectGeoTiff(source, { ...task.request, crs: createCrsCatalogue(task.crs) })
  reply({ type: 'inspected', inspected })
  if (task.scale !== null) reply({ type: 'scaled', scale: await settleScale(source, inspected, task.scale) })
} catch (error) {
  reply({ type: 'refused', error: toPlainError(error) })
}
