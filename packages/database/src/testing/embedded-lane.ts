import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { lockFolder, startPgliteServer } from '@terrane/pglite-server'
import { openDatabase } from '../database.ts'
import { migrate } from '../migrate.ts'
import { Engine } from './engines.ts'
import { fingerprint } from './fingerprint.ts'
import type { TestDatabase } from './test-database.ts'

const CACHE = new URL('../../../../.cache/', import.meta.url)
/** Maximum idle engines, because few tests use more than two databases at once. */
const MOST_IDLE = 2
const POLL_MS = 100

/** Engines of this process that have been rewound to the state of the snapshot. */
const idle: Engine[] = []

/** Lends an engine of this process in the state of the snapshot; disposing rewinds it for the next test. */
export async function borrowEmbedded(): Promise<TestDatabase> {
  const embedded = takeIdle() ?? (await Engine.start(await migratedSnapshot()))
  const { url } = embedded
  const database = await openDatabase({ url, applicationName: 'test' })
  let ended: Promise<void> | null = null
  return {
    url,
    database,
    [Symbol.asyncDispose]: () => {
      ended ??= database.close().then(() => giveBack(embedded))
      return ended
    },
  }
}

/** An idle engine whose process runs. */
function takeIdle(): Engine | undefined {
  let engine = idle.pop()
  while (engine?.isLost) engine = idle.pop()
  return engine
}

async function giveBack(embedded: Engine): Promise<void> {
  if (idle.length >= MOST_IDLE) return embedded.close()
  try {
    await embedded.rewind()
  } catch {
    // The engine was lost in a test, or has loaded another library, so its thread has ended.
    return
  }
  idle.push(embedded)
}

/** Path of a snapshot with every migration applied. One process at a time makes it; the others wait. */
export async function migratedSnapshot(): Promise<string> {
  const path = fileURLToPath(new URL(`pglite-${await fingerprint()}.tar`, CACHE))
  while (!existsSync(path)) {
    const lock = lockFolder(path)
    try {
      if (lock === null) await sleep(POLL_MS)
      else if (!existsSync(path)) await makeSnapshot(path)
    } finally {
      lock?.[Symbol.dispose]()
    }
  }
  return path
}

async function makeSnapshot(path: string): Promise<void> {
  await using embedded = await startPgliteServer()
  await using database = await openDatabase({ url: embedded.url, applicationName: 'test' })
  await migrate(database, ['control', 'project'])
  // The pages of the embedded database are in memory anyway, and the server fills this cache with zeros at every start.
  await database.query(`alter system set shared_buffers = '16MB'`)
  await mkdir(CACHE, { recursive: true })
  const temporary = `${path}.${randomBytes(4).toString('hex')}`
  await writeFile(temporary, await embedded.snapshot())
  await rename(temporary, path)
}
