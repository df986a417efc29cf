import { randomBytes } from 'node:crypto'
import { signToken } from '@terrane/auth'
import { addressesOf } from '../environment.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Project } from '../projects/project.ts'

/** Keys of one instance, and the variables that carry them and the addresses of its project. */
export interface InstanceKeys {
  readonly env: Readonly<Record<string, string>>
  /** Token that replaces the service key on this instance's sockets, where the function or its caller may use it. */
  readonly serviceToken: string
}

/** Makes the keys of an instance that is about to start. */
export type IssueKeys = (version: FunctionVersion) => Promise<InstanceKeys>

/** Lifetime of an instance's keys in seconds; the instance is replaced before they end. */
export const KEYS_SECONDS = 3600

/** Longest time for which the start of an instance waits for public keys, in milliseconds. */
const PATIENCE_MS = 1000

/**
 * Issues the keys of instances: the project's current address and public keys, and a token in the form of a
 * service-role key. In requests of the service role the host replaces the real key with the token. On calls to the
 * project's API it replaces the token with the real key: always for privileged functions, for others while they answer
 * a caller of the service role. No verifier accepts the token's signature, so it has no rights elsewhere.
 *
 * @param onFailed called when the public keys cannot be fetched in time; the instance then starts without them
 */
export function issueKeys(
  projectOf: (id: string) => Pick<Project, 'ref' | 'publicKeys' | 'publicUrl' | 'anonKey'> | null,
  onFailed: (version: FunctionVersion, error: unknown) => void,
): IssueKeys {
  const secret = randomBytes(32).toString('hex')
  return async (version) => {
    const project = projectOf(version.project)
    const env: Record<string, string> = project ? addressesOf(project) : {}
    try {
      if (project) env['SUPABASE_JWKS'] = JSON.stringify({ keys: await soon(project.publicKeys()) })
    } catch (error) {
      onFailed(version, error)
    }
    const claims = {
      iss: 'terrane-functions',
      ref: project?.ref ?? '',
      role: 'service_role',
      jti: randomBytes(16).toString('hex'),
    }
    const token = await signToken(claims, secret, KEYS_SECONDS)
    const names = ['SERVICE_ROLE_KEY', 'SUPABASE_SERVICE_ROLE_KEY', 'SUPABASE_SECRET_KEY']
    for (const name of names) env[name] = token
    env['SUPABASE_SECRET_KEYS'] = JSON.stringify({ default: token })
    return { env, serviceToken: token }
  }
}

/** @throws an error when the keys do not arrive in time */
async function soon<T>(keys: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`it has not answered in ${PATIENCE_MS} ms`)), PATIENCE_MS)
  try {
    return await Promise.race([keys, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
