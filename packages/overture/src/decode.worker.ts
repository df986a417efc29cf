import { parentPort, workerData } from 'node:worker_threads'
import { Aoi, type Ring } from '@terrane/core'
import type { FileMetaData } from 'hyparquet'
import { decodeGroup } from './decode-group.ts'
import type { DecodeReply, SentRequest } from './decode-thread.ts'
import { parseFooter } from './parquet-footer.ts'

const port = parentPort!
const aoi = new Aoi(workerData as Ring[][])
/** The footer parsed last: the row groups of a file come one after the other. */
let last: { readonly url: string; readonly metadata: FileMetaData } | null = null

port.on('message', (request: SentRequest) => {
  void answer(request).then((reply) => port.postMessage(reply))
})

async function answer({ id, url, footer, ...group }: SentRequest): Promise<DecodeReply> {
  try {
    if (last?.url !== url) last = { url, metadata: parseFooter(footer) }
    return { id, rows: await decodeGroup({ ...group, metadata: last.metadata }, aoi) }
  } catch (error) {
    return { id, reason: error instanceof Error ? error.message : String(error) }
  }
}
