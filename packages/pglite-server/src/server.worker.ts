import { parentPort, workerData } from 'node:worker_threads'
import { Engine } from './engine/engine.ts'
import type { ServerCommand, ServerReply, ServerSettings } from './server.ts'
import { lockFolder } from './folder-lock.ts'
import { Maintenance } from './sessions/maintenance.ts'
import { WireServer } from './wire-server.ts'

// Sockets have a thread of their own, so that they stay responsive while the thread of the engine computes.
const { dataDir, sync, snapshot, rewindable, port: wanted, limits } = workerData as ServerSettings
const port = parentPort
if (!port) throw new Error('server.worker.ts runs in a worker thread')

const reply = (message: ServerReply) => port.postMessage(message)
const lock = dataDir === null ? null : lockFolder(dataDir)
if (dataDir !== null && lock === null) throw new Error(`another process has its data folder ${dataDir} open`)
let server = await serve((again) => Engine.start({ dataDir, sync, snapshot: again ? null : snapshot, rewindable }))

port.on('message', (command: ServerCommand) => {
  if (command === 'snapshot') void takeSnapshot()
  else if (command === 'rewind') void rewind()
  else void close()
})

async function serve(open: (again: boolean) => Promise<Engine>): Promise<WireServer> {
  const persistent = dataDir !== null
  const wire = new WireServer({ open, persistent, limits, maintenance: persistent ? new Maintenance() : undefined })
  reply({ type: 'ready', port: await wire.listen(wanted, '127.0.0.1') })
  return wire
}

/** Listens on another port afterwards, so that clients cannot reconnect. */
async function rewind(): Promise<void> {
  const engine = await server.release()
  if (!engine) throw new Error('its engine was lost')
  if (!(await engine.rewind())) throw new Error('it has loaded a library since its start')
  server = await serve(async () => engine)
}

async function takeSnapshot(): Promise<void> {
  reply({ type: 'snapshot', bytes: await server.snapshot() })
}

async function close(): Promise<void> {
  await server.close()
  lock?.[Symbol.dispose]()
  reply({ type: 'closed' })
  port?.close()
}
