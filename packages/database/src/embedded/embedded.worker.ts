import { parentPort, workerData } from 'node:worker_threads'
import { Engine } from './engine.ts'
import type { EmbeddedSettings, EmbeddedReply } from './embedded.ts'
import { lockFolder } from './folder-lock.ts'
import { WireServer } from './wire-server.ts'

// This thread hears the clients, whatever the engine's is doing.
const { dataDir, snapshot, port: wanted, limits } = workerData as EmbeddedSettings
const port = parentPort
if (!port) throw new Error('embedded.worker.ts runs in a worker thread')

const reply = (message: EmbeddedReply) => port.postMessage(message)
const lock = dataDir === null ? null : lockFolder(dataDir)
if (dataDir !== null && lock === null) throw new Error(`another process has its data folder ${dataDir} open`)
const server = new WireServer({
  open: (again) => Engine.start({ dataDir, snapshot: again ? null : snapshot }),
  persistent: dataDir !== null,
  limits,
})
reply({ type: 'ready', port: await server.listen(wanted, '127.0.0.1') })

port.on('message', (command: 'snapshot' | 'close') => void (command === 'snapshot' ? takeSnapshot() : close()))

async function takeSnapshot(): Promise<void> {
  reply({ type: 'snapshot', bytes: await server.snapshot() })
}

async function close(): Promise<void> {
  await server.close()
  lock?.[Symbol.dispose]()
  reply({ type: 'closed' })
  port?.close()
}
