import { DATABASE_URL_INSIDE } from './database/address.ts'
import { missingSecrets } from './errors.ts'
import { isSecretName, readBindings } from './bindings.ts'
import type { Policy } from './policy.ts'
import type { Project } from './projects/project.ts'

/**
 * Placeholder for the Services API key in privileged functions, which the host replaces with the real key. It is not
 * secret, because it is valid only on the function's own socket.
 */
export const SERVICES_KEY_PLACEHOLDER = 'services-key-added-by-the-host'

/** Names of variables that every function gets; those of the database only if the project has one. */
export const GIVEN_VARIABLES: ReadonlySet<string> = new Set([
  'PROJECT_URL',
  'ANON_KEY',
  'SERVICE_ROLE_KEY',
  'SERVICES_KEY',
  'TERRANE_DB_URL',
  ...['URL', 'JWKS', 'JWKS_URL', 'DB_URL', 'ANON_KEY', 'SERVICE_ROLE_KEY'].map((name) => `SUPABASE_${name}`),
  ...['PUBLISHABLE_KEY', 'PUBLISHABLE_KEYS', 'SECRET_KEY', 'SECRET_KEYS'].map((name) => `SUPABASE_${name}`),
])

/**
 * Environment variables of a function's version: its secrets, and how it reaches the project's database. The function's
 * own secrets override the project's of the same name. Each instance adds the project's addresses ({@link addressesOf}).
 *
 * @param project null for a project that was just removed
 * @throws FUNCTION_SECRETS_MISSING when the policy names a secret that does not exist
 */
export function environmentOf(
  project: Pick<Project, 'databaseUrl'> | null,
  policy: Policy,
  secrets: { readonly project: Readonly<Record<string, string>>; readonly own: Readonly<Record<string, string>> },
): Record<string, string> {
  const all = policy.secrets.includes('*')
  const known = { ...secrets.project, ...secrets.own }
  const missing = policy.secrets.filter((name) => name !== '*' && known[name] === undefined)
  if (missing.length > 0) throw missingSecrets({ names: missing })
  const granted = Object.entries(secrets.project).filter(([name]) => all || policy.secrets.includes(name))
  const vars = readBindings(policy.bindings).filter(({ kind }) => kind === 'var' || kind === 'json')
  const env: Record<string, string> = Object.fromEntries([
    ...vars.map(({ name, value }) => [name, value] as const),
    ...granted,
    ...Object.entries(secrets.own),
  ])
  for (const name of Object.keys(env)) if (!isSecretName(name)) delete env[name]
  if (project && project.databaseUrl !== null) {
    env['TERRANE_DB_URL'] = DATABASE_URL_INSIDE
    env['SUPABASE_DB_URL'] = DATABASE_URL_INSIDE
  }
  if (policy.privileged) env['SERVICES_KEY'] = SERVICES_KEY_PLACEHOLDER
  return env
}

/**
 * Public address and key of a project under the names of this host and of Supabase, so that programs written for
 * Supabase work unchanged. They are read for each instance, because a project's address may change while a version is
 * served.
 */
export function addressesOf({ anonKey, publicUrl }: Pick<Project, 'anonKey' | 'publicUrl'>): Record<string, string> {
  const url = publicUrl.replace(/\/$/, '')
  return {
    PROJECT_URL: url,
    SUPABASE_URL: url,
    SUPABASE_JWKS_URL: `${url}/auth/v1/.well-known/jwks.json`,
    ...(anonKey !== null && {
      ANON_KEY: anonKey,
      SUPABASE_ANON_KEY: anonKey,
      SUPABASE_PUBLISHABLE_KEY: anonKey,
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: anonKey }),
    }),
  }
}

/** Names of variables that a function is not given, because only the host sets them. */
export function ignoredNames(...secrets: readonly Readonly<Record<string, string>>[]): string[] {
  const names = new Set(secrets.flatMap((each) => Object.keys(each)))
  return [...names].filter((name) => !isSecretName(name)).toSorted()
}
