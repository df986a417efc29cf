import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { postgis } from '@electric-sql/pglite-postgis'
import type { EmbeddedSettings, EmbeddedReply } from './embedded.ts'
import { WireServer } from './wire-server.ts'

// PGlite computes on the thread that runs it: it has this one to itself.
const settings = workerData as EmbeddedSettings
const port = parentPort
if (!port) throw new Error('embedded.worker.ts runs in a worker thread')

const db = await PGlite.create({
  extensions: { postgis, vector },
  ...(settings.dataDir === null ? {} : { dataDir: settings.dataDir }),
  ...(settings.snapshot === null ? {} : { loadDataDir: new Blob([settings.snapshot]) }),
})
const server = new WireServer(db, settings.limits)
const listening = await server.listen(settings.port, '127.0.0.1')
const reply = (message: EmbeddedReply) => port.postMessage(message)
reply({ type: 'ready', port: listening })

port.on('message', (command: 'snapshot' | 'close') => void (command === 'snapshot' ? snapshot() : close()))

async function snapshot(): Promise<void> {
  const blob = await db.dumpDataDir('none')
  reply({ type: 'snapshot', bytes: new Uint8Array(await blob.arrayBuffer()) })
}

async function close(): Promise<void> {
  await server.close()
  await db.close()
  reply({ type: 'closed' })
  port?.close()
}
