// Requests tiles in a separate thread, so that the server has its thread to itself.
import { Agent, request } from 'node:http'
import { parentPort } from 'node:worker_threads'

/** URLs that are requested in turn: total count, concurrency and key. */
export interface Asked {
  readonly urls: readonly string[]
  readonly count: number
  readonly atOnce: number
  readonly key: string
}

/** Duration, and bytes of each URL, or the error. */
export interface Answered {
  readonly seconds: number
  readonly bytes: readonly number[]
  readonly error?: string
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

parentPort?.on('message', (asked: Asked) => void answer(asked))

async function answer({ urls, count, atOnce, key }: Asked): Promise<void> {
  const headers = { apikey: key, authorization: `Bearer ${key}` }
  const bytes = urls.map(() => 0)
  let next = 0
  const lane = async () => {
    while (next < count) {
      const i = next++ % urls.length
      bytes[i] = await ask(urls[i] as string, headers)
    }
  }
  const begun = performance.now()
  const error = await Promise.all(Array.from({ length: atOnce }, lane)).then(() => undefined, String)
  const seconds = (performance.now() - begun) / 1000
  parentPort?.postMessage({ seconds, bytes, ...(error !== undefined && { error }) } satisfies Answered)
}

/** Bytes of a tile; 0 for an empty one, which is answered with 204. */
function ask(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => {
        if (response.statusCode === 200 || response.statusCode === 204) resolve(bytes)
        else reject(new Error(`${url} is answered with ${response.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end()
  })
}
