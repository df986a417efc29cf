import type { Database, Session } from '@terrane/database'
import type { Logger } from '@terrane/service'
import { PgBoss, type Db } from 'pg-boss'
import { queueTooNew } from '../errors.ts'
import { QUEUE_SCHEMA, QUEUE_SCHEMA_VERSION } from './queue-tables.ts'

/** NOTIFY channel for new jobs. */
export const WORK_CHANNEL = 'terrane_work'

/** Starts pg-boss on the worker's pool, without its own polling of jobs. @throws QUEUE_TOO_NEW */
export async function startBoss(database: Database, logger: Logger): Promise<PgBoss> {
  const boss = new PgBoss({
    db: adapter(database),
    schema: QUEUE_SCHEMA,
    backend: database.capabilities.engine,
    schedule: false,
    // Interval at which lost workers are looked for.
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    queueCacheIntervalSeconds: 60,
    // The thresholds are meant for busy servers; this queue has few and long jobs.
    monitorVacuum: false,
    reindex: false,
  })
  boss.on('error', (error) => logger.warn({ err: error }, 'queue error'))
  boss.on('warning', (warning) => logger.debug({ warning }, 'queue warning'))
  await boss.start()
  const version = await boss.schemaVersion()
  if (version === QUEUE_SCHEMA_VERSION) return boss
  await boss.stop({ graceful: false, close: false })
  throw queueTooNew({ version, known: QUEUE_SCHEMA_VERSION })
}

/** Options that make pg-boss write within this transaction. */
export function inTransaction(session: Session): { db: Db } {
  return { db: { executeSql: (text, values) => session.query(text, values) } }
}

function adapter(database: Database): Db {
  return { executeSql: (text, values) => database.query(text, values) }
}
