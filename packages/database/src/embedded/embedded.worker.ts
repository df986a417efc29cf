import { parentPort, workerData } from 'node:worker_threads'
import { Engine } from './engine.ts'
import type { EmbeddedSettings, EmbeddedReply } from './embedded.ts'
import { WireServer } from './wire-server.ts'

// This thread hears the clients, whatever the engine's is doing.
const settings = workerData as EmbeddedSettings
const port = parentPort
if (!port) throw new Error('embedded.worker.ts runs in a worker thread')

const reply = (message: EmbeddedReply) => port.postMessage(message)
let opening: Promise<{ engine: Engine; server: WireServer }> = open(settings.port, settings.snapshot)
let listening = 0
await opening
reply({ type: 'ready', port: listening })

port.on('message', (command: 'snapshot' | 'close') => void (command === 'snapshot' ? snapshot() : close()))

async function open(wanted: number, from: EmbeddedSettings['snapshot']) {
  const engine = await Engine.start({ dataDir: settings.dataDir, snapshot: from })
  const server = new WireServer(engine, settings.limits, () => void startAgain(engine, server))
  listening = await server.listen(wanted, '127.0.0.1')
  return { engine, server }
}

/** Ends an engine that hears nothing, and starts another on its folder. What is in memory only is not given up. */
async function startAgain(engine: Engine, server: WireServer): Promise<void> {
  if (settings.dataDir === null) return
  const { promise, resolve, reject } = Promise.withResolvers<Awaited<typeof opening>>()
  opening = promise
  await engine.kill()
  await server.close()
  open(listening, null).then(resolve, reject)
}

async function snapshot(): Promise<void> {
  const { engine } = await opening
  reply({ type: 'snapshot', bytes: await engine.snapshot() })
}

async function close(): Promise<void> {
  const { engine, server } = await opening
  await server.close()
  await engine.close()
  reply({ type: 'closed' })
  port?.close()
}
