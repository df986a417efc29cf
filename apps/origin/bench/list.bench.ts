// Lists the first 100 of 10,000 objects on an S3 service, as supabase-js asks for them, compared with the S3 requests for
// as many keys.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { Readable } from 'node:stream'
import { openStore } from '@terrane/storage'
import { openOrigin } from '../test/harness.ts'

const OBJECTS = 10_000
const LANES = 24
const ROUNDS = 15
const GOAL_MS = 300

const s3 = fork(new URL(import.meta.resolve('@terrane/testing/s3/process')))
const [{ port }] = (await once(s3, 'message')) as [{ port: number }]
const env = {
  TERRANE_STORAGE: 's3://bucket',
  AWS_ACCESS_KEY_ID: 'S3RVER',
  AWS_SECRET_ACCESS_KEY: 'S3RVER',
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
}
const store = openStore(env.TERRANE_STORAGE, env)
await store.createBucket('many', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
let next = 0
const lane = async () => {
  for (let i = next++; i < OBJECTS; i = next++) {
    await store.put('many', `${String(i).padStart(5, '0')}.txt`, Readable.from([Buffer.from('x')]), { upsert: true })
  }
}
await Promise.all(Array.from({ length: LANES }, lane))

{
  await using origin = await openOrigin(env)
  const files = origin.client(origin.keys.service).storage.from('many')
  const ways = {
    list: async () => shown(await files.list('', { limit: 100 })).length,
    'list-v2': async () => shown(await files.listV2({ limit: 100 })).objects.length,
    'all keys of S3 alone': async () => {
      const keys = await Array.fromAsync(store.list('many', ''))
      return keys.length / 100
    },
  }
  for (const [name, ask] of Object.entries(ways)) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const begun = performance.now()
      const found = await ask()
      times.push(performance.now() - begun)
      if (found !== 100) throw new Error(`${name} gave ${found} objects, not 100`)
    }
    times.sort((a, b) => a - b)
    const [median, worst] = [times[ROUNDS >> 1]!, times.at(-1)!]
    console.log(
      `${name}: median ${median.toFixed(0)} ms, worst ${worst.toFixed(0)} ms (goal ${GOAL_MS}); load ${loadavg()[0]!.toFixed(1)}`,
    )
  }
}
s3.disconnect()

function shown<T>({ data, error }: { data: T | null; error: unknown }): T {
  if (data === null) throw error
  return data
}
