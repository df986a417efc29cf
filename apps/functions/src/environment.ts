import { DATABASE_URL_INSIDE } from './database/address.ts'
import { KEY_PLACEHOLDERS } from './egress/project-api.ts'
import { missingSecrets } from './errors.ts'
import type { Policy } from './policy.ts'
import type { Project } from './projects/project.ts'

const URL_INSIDE = 'http://project.internal'

/** Names that only the host sets. */
const RESERVED = /^(SUPABASE_|TERRANE_|DENO_|NODE_OPTIONS$|PROJECT_URL$|ANON_KEY$|SERVICE_ROLE_KEY$|SERVICES_KEY$)/

/** True for a permitted name of a secret. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name) && !RESERVED.test(name)
}

/**
 * Environment variables of a function: the address of the project's API under two names each, so that programs written
 * for Supabase work unchanged, and its secrets. The function's own secrets override the project's of the same name.
 *
 * @param project null for one that has just gone
 * @throws FUNCTION_SECRETS_MISSING when the policy names a secret that does not exist
 */
export function environmentOf(
  project: Pick<Project, 'anonKey' | 'databaseUrl'> | null,
  policy: Policy,
  secrets: { readonly project: Readonly<Record<string, string>>; readonly own: Readonly<Record<string, string>> },
): Record<string, string> {
  const all = policy.secrets.includes('*')
  const known = { ...secrets.project, ...secrets.own }
  const missing = policy.secrets.filter((name) => name !== '*' && known[name] === undefined)
  if (missing.length > 0) throw missingSecrets({ names: missing })
  const granted = Object.entries(secrets.project).filter(([name]) => all || policy.secrets.includes(name))
  const env: Record<string, string> = Object.fromEntries([...granted, ...Object.entries(secrets.own)])
  for (const name of Object.keys(env)) if (!isSecretName(name)) delete env[name]
  const host = { PROJECT_URL: URL_INSIDE, ANON_KEY: project?.anonKey ?? null, SUPABASE_URL: URL_INSIDE } as const
  for (const [name, value] of Object.entries(host)) if (value !== null) env[name] = value
  if (project?.anonKey != null) env['SUPABASE_ANON_KEY'] = project.anonKey
  if (project?.databaseUrl != null) env['TERRANE_DB_URL'] = env['SUPABASE_DB_URL'] = DATABASE_URL_INSIDE
  if (policy.privileged) {
    env['SERVICE_ROLE_KEY'] = KEY_PLACEHOLDERS.serviceKey
    env['SUPABASE_SERVICE_ROLE_KEY'] = KEY_PLACEHOLDERS.serviceKey
    env['SERVICES_KEY'] = KEY_PLACEHOLDERS.servicesKey
  }
  return env
}
