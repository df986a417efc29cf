import { join, resolve } from 'node:path'
import { openStore, type ObjectStore } from '@terrane/storage'

/** Locations of the parts of an installation, by the variables that its apps read. */
export interface Places {
  readonly databaseUrl: string | null
  readonly home: string
  readonly storage: ObjectStore
  readonly functions: ObjectStore
}

type Env = Readonly<Record<string, string | undefined>>

/** Reads the locations from the environment; absent ones are those of a local stack. */
export function placesOf(env: Env): Places {
  const home = resolve(env['TERRANE_HOME'] || '.terrane')
  return {
    databaseUrl: env['DATABASE_URL'] || null,
    home,
    storage: placeOf(env['TERRANE_STORAGE'] || `file:${join(home, 'storage')}`, env),
    functions: placeOf(env['TERRANE_FUNCTIONS_STORAGE'] || `file:${join(home, 'functions', 'archives')}`, env),
  }
}

/** A storage by its setting; a plain path means a folder. */
export function placeOf(setting: string, env: Env): ObjectStore {
  return openStore(/^(file:|s3:)/.test(setting) ? setting : `file:${resolve(setting)}`, env)
}
