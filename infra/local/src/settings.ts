import { resolve } from 'node:path'
import type { SyncMode } from '@terrane/pglite-server'

/** Folder of the stack's state, and the ports it listens on. */
export interface Settings {
  readonly home: string
  readonly projectRef: string
  readonly ports: Readonly<Record<'worker' | 'origin' | 'functions' | 'router' | 'console' | 'database', number>>
  /** A server to use instead of the embedded database. */
  readonly databaseUrl: string | null
  /** When the embedded database's commits are written to disk. */
  readonly databaseSync: SyncMode
  readonly logLevel: string
}

/** Reads the settings of the stack from the environment. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const port = (name: string, fallback: number) => {
    const text = env[`TERRANE_${name}_PORT`]
    const value = text ? Number(text) : fallback
    if (!Number.isInteger(value) || value < 1 || value > 65_535)
      throw new Error(`TERRANE_${name}_PORT is not a port: ${text}`)
    return value
  }
  const databaseSync = env['TERRANE_DATABASE_SYNC'] || 'soon'
  if (databaseSync !== 'soon' && databaseSync !== 'commit')
    throw new Error(`TERRANE_DATABASE_SYNC is neither soon nor commit: ${databaseSync}`)
  return {
    home: resolve(env['TERRANE_HOME'] || '.terrane'),
    projectRef: env['TERRANE_PROJECT_REF'] || 'local',
    ports: {
      worker: port('WORKER', 3333),
      origin: port('ORIGIN', 8000),
      functions: port('FUNCTIONS', 8001),
      router: port('ROUTER', 8002),
      console: port('CONSOLE', 8003),
      database: port('DATABASE', 54329),
    },
    databaseUrl: env['DATABASE_URL'] || null,
    databaseSync,
    logLevel: env['LOG_LEVEL'] || 'info',
  }
}
