import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import type { PGlite } from '@electric-sql/pglite'
import { pgDump } from '@electric-sql/pglite-tools/pg_dump'
import { lastMessage } from './messages.ts'
import type { DumpSettings } from './pg-dump.ts'

// pg_dump as WebAssembly blocks for each answer, so it has a thread of its own.
const { args, greeting, port, answers } = workerData as DumpSettings & { readonly port: MessagePort }
let asked: Buffer = Buffer.alloc(0)
let heard = 0

/** The part of PGlite that pg_dump needs: a synchronous call of the wire protocol. */
const server = {
  execProtocolRawStream(bytes: Uint8Array, { onRawData }: { onRawData: (data: Uint8Array) => void }): void {
    asked = Buffer.concat([asked, bytes])
    // Only the start-up packet begins with a length.
    if (asked[0] === 0) {
      if (asked.length < 4 || asked.length < asked.readInt32BE(0)) return
      asked = asked.subarray(asked.readInt32BE(0))
      return onRawData(greeting)
    }
    const last = lastMessage(asked)
    if (last?.type === 'X') asked = Buffer.alloc(0)
    if (last?.type !== 'Q' && last?.type !== 'S') return
    port.postMessage(Uint8Array.from(asked.subarray(0, last.end)))
    asked = asked.subarray(last.end)
    Atomics.wait(answers, 0, heard)
    heard = Atomics.load(answers, 0)
    onRawData((receiveMessageOnPort(port) as { message: Uint8Array }).message)
  },
  query: async () => ({ rows: [{ search_path: '' }] }),
  exec: async () => [],
}

const file = await pgDump({ pg: server as unknown as PGlite, args: [...args] })
parentPort?.postMessage(await file.text())
port.close()
