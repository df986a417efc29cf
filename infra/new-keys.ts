import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CONSOLE_EMAIL, makeKeys } from './local/src/keys.ts'

// Generates the secrets of a new deployment. `npm run --silent keys > infra/.env` prints those of infra/compose.yaml;
// `DATABASE_URL=… npm run --silent keys -- --folder …/keys` writes a file for each app of an overlay of
// infra/kubernetes.
const { values, positionals } = parseArgs({ options: { folder: { type: 'string' } }, allowPositionals: true })
const [projectRef = 'local'] = positionals
const keys = await makeKeys(projectRef)
const secrets: Readonly<Record<string, string | undefined>> = {
  TERRANE_PROJECT_REF: projectRef,
  POSTGRES_PASSWORD: randomBytes(24).toString('base64url'),
  TERRANE_JWT_SECRET: keys.jwtSecret,
  TERRANE_ANON_KEY: keys.anonKey,
  TERRANE_SERVICE_ROLE_KEY: keys.serviceRoleKey,
  TERRANE_SERVICES_KEY: keys.servicesKey,
  TERRANE_SECRETS_KEY: keys.secretsKey,
  TERRANE_METRICS_KEY: keys.metricsKey,
  TERRANE_CONSOLE_EMAIL: CONSOLE_EMAIL,
  TERRANE_CONSOLE_PASSWORD: keys.consolePassword,
}

const PROJECT = ['DATABASE_URL', 'TERRANE_PROJECT_REF', 'TERRANE_SERVICE_ROLE_KEY']
const STORAGE = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_REGION', 'AWS_ENDPOINT_URL']
/** Secrets of each app. An app gets no others, so that a compromised pod reveals nothing else. */
const SECRETS_OF: Readonly<Record<string, readonly string[]>> = {
  worker: [...PROJECT, 'TERRANE_JWT_SECRET', 'TERRANE_SERVICES_KEY', 'TERRANE_SECRETS_KEY', ...STORAGE],
  origin: [...PROJECT, 'TERRANE_JWT_SECRET', 'TERRANE_ANON_KEY', ...STORAGE],
  functions: [
    ...PROJECT,
    'TERRANE_JWT_SECRET',
    'TERRANE_ANON_KEY',
    'TERRANE_SERVICES_KEY',
    'TERRANE_SECRETS_KEY',
    ...STORAGE,
  ],
  router: ['DATABASE_URL'],
  console: [
    ...PROJECT,
    'TERRANE_ANON_KEY',
    'TERRANE_SERVICES_KEY',
    'TERRANE_SECRETS_KEY',
    'TERRANE_CONSOLE_EMAIL',
    'TERRANE_CONSOLE_PASSWORD',
  ],
  migrations: ['DATABASE_URL'],
}

if (values.folder === undefined) process.stdout.write(lines(Object.keys(secrets), secrets))
else if (!process.env['DATABASE_URL']) {
  process.stderr.write('DATABASE_URL is not set: a PostgreSQL 17 with PostGIS and pgvector, which the apps will use.\n')
  process.exitCode = 1
} else if (existsSync(values.folder)) {
  process.stderr.write(`${values.folder} is there: new keys would open nothing that the old ones have sealed.\n`)
  process.exitCode = 1
} else {
  mkdirSync(values.folder, { recursive: true, mode: 0o700 })
  for (const [app, names] of Object.entries(SECRETS_OF)) {
    const text = lines(names, { ...process.env, ...secrets })
    writeFileSync(join(values.folder, `${app}.env`), text, { mode: 0o600, flag: 'wx' })
  }
}

function lines(names: readonly string[], of: Readonly<Record<string, string | undefined>>): string {
  return names
    .filter((name) => of[name])
    .map((name) => `${name}=${of[name]}\n`)
    .join('')
}
