import { type Transferable, parentPort, workerData } from 'node:worker_threads'

import { GeoParquetFile, type ParquetMessage, type ParquetRequest, type ParquetSetup } from './geoparquet-file.ts'

const port = parentPort
if (!port) throw new Error('this module runs in a worker thread')
const post = (message: ParquetMessage, transfer: readonly Transferable[] = []): void =>
  port.postMessage(message, transfer)

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- openGeoParquet is the only one that starts us
const file = new GeoParquetFile(workerData as ParquetSetup, (bytes) => post({ type: 'bytes', bytes }, [bytes.buffer]))

port.on('message', (request: ParquetRequest) => {
  try {
    if (request.type === 'append') {
      file.append(request.rows)
      post({ type: 'done', summary: null })
    } else post({ type: 'done', summary: file.finish() })
  } catch (error) {
    post({ type: 'failed', why: error instanceof Error ? error.message : String(error) })
  }
})
