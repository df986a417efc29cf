import { stat } from 'node:fs/promises'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createClient, type TerraneClient } from '@terrane/client'
import { TerraneError } from '@terrane/core/errors'
import { databaseOf, findStack, local, notRunning, readJson } from './local-stack.ts'

/** Address and keys of a project. */
export interface Connection {
  /** Base URL of the project, for `/worker`, `/rest/v1`, `/storage/v1`, `/functions/v1` and `/routing-engine/v1`. */
  readonly url: string
  /** The service-role key. */
  readonly key: string
  /** The key for browsers, if known. */
  readonly anonKey: string | undefined
  /** Key of the routing engine; the key of the project unless another is set. */
  readonly servicesKey: string
  readonly projectRef: string | undefined
  readonly client: TerraneClient
}

interface Profile {
  readonly url: string
  readonly key: string
  readonly anonKey?: string | undefined
  readonly servicesKey?: string | undefined
  readonly projectRef?: string | undefined
}

/** The file of profiles: name → url, key, servicesKey, projectRef. */
export function profilesPath(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'terrane', 'profiles.json')
}

/**
 * Finds the project of a command: the named profile, else TERRANE_URL with its key, else the local stack of this
 * folder.
 *
 * @throws NOT_CONNECTED, PROFILE_UNKNOWN, PROFILES_UNSAFE
 */
export async function connect(name?: string, env: NodeJS.ProcessEnv = ownEnvironment()): Promise<Connection> {
  const profile = await find(name ?? env['TERRANE_PROFILE'], env)
  const url = profile.url.endsWith('/') ? profile.url.slice(0, -1) : profile.url
  const { key, anonKey, projectRef, servicesKey = key } = profile
  const client = createClient({ url: `${url}/worker`, key, ...(projectRef !== undefined && { projectRef }) })
  return { url, key, anonKey, servicesKey, projectRef, client }
}

async function find(name: string | undefined, env: NodeJS.ProcessEnv): Promise<Profile> {
  if (name) return await readProfile(name, env)
  const { TERRANE_URL: url, TERRANE_SERVICE_ROLE_KEY: key, TERRANE_PROJECT_REF: projectRef } = env
  if (url && key)
    return {
      url,
      key,
      anonKey: env['TERRANE_ANON_KEY'] || undefined,
      servicesKey: env['TERRANE_SERVICES_KEY'] || undefined,
      projectRef,
    }
  // The keys of the local stack are valid only there, so they are not sent to another host.
  if (url && !isLoopback(url)) throw keyMissing(url)
  const { keys, ports } = await findStack(env)
  if (ports.origin === undefined) throw notRunning('its origin is being started again')
  if (url && portOf(url) !== ports.origin) throw keyMissing(url)
  const { serviceRoleKey, anonKey, servicesKey } = keys
  // Not the TERRANE_URL as given, because on another address of this machine another program may listen on that port.
  return { url: local(ports.origin), key: serviceRoleKey, anonKey, servicesKey }
}

function keyMissing(url: string): TerraneError {
  return new TerraneError(
    'NOT_CONNECTED',
    'invalid',
    `TERRANE_URL is ${url}, which is not the local stack, but TERRANE_SERVICE_ROLE_KEY is not set`,
    { hint: 'Set both, or name a profile (--profile).' },
  )
}

/**
 * Environment variables of the apps' own programs for the local stack: empty when none runs, and without keys that
 * would be sent elsewhere.
 *
 * @param args of the program, which may name another address
 */
export async function localEnvironment(
  args: readonly string[],
  env: NodeJS.ProcessEnv = ownEnvironment(),
): Promise<Record<string, string>> {
  const { TERRANE_FUNCTIONS_URL: url, TERRANE_SERVICE_ROLE_KEY: ownKey, TERRANE_URL: project, TERRANE_PROFILE } = env
  if (args.some((argument) => /^--url(?:=|$)/.test(argument)) || (url && (ownKey || !isLoopback(url)))) return {}
  // The environment names another project.
  if (TERRANE_PROFILE || (project && !isLoopback(project))) return {}
  const stack = await findStack(env).catch(() => null)
  const port = stack?.ports.functions
  if (!stack || port === undefined || (url && portOf(url) !== port)) return {}
  const { serviceRoleKey } = stack.keys
  if (ownKey && ownKey !== serviceRoleKey) return {}
  return { TERRANE_FUNCTIONS_URL: local(port), TERRANE_SERVICE_ROLE_KEY: serviceRoleKey }
}

/** The database of the local stack: that of the environment, or the embedded one. Undefined for other projects. */
export async function localDatabase(
  profile: string | undefined,
  env: NodeJS.ProcessEnv = ownEnvironment(),
): Promise<string | undefined> {
  const { TERRANE_PROFILE, TERRANE_URL, TERRANE_SERVICE_ROLE_KEY, DATABASE_URL } = env
  if (profile !== undefined || TERRANE_PROFILE || (TERRANE_URL && TERRANE_SERVICE_ROLE_KEY)) return undefined
  if (DATABASE_URL) return DATABASE_URL
  return findStack(env)
    .then(databaseOf)
    .catch(() => undefined)
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url)
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

/** All profiles by name. @throws FILE_UNREADABLE */
export async function readProfiles(env: NodeJS.ProcessEnv): Promise<Readonly<Record<string, Profile>>> {
  return (await readJson<Record<string, Profile>>(profilesPath(env))) ?? {}
}

async function readProfile(name: string, env: NodeJS.ProcessEnv): Promise<Profile> {
  const path = profilesPath(env)
  const profile = (await readProfiles(env))[name]
  if (!profile?.url || !profile.key) {
    throw new TerraneError('PROFILE_UNKNOWN', 'invalid', `There is no profile '${name}' with url and key in ${path}`, {
      hint: `Add it there, in a file that you alone may read: {"${name}": {"url": "https://…", "key": "…"}}`,
    })
  }
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) {
    throw new TerraneError('PROFILES_UNSAFE', 'forbidden', `Other users can read the keys in ${path}`, {
      hint: `Restrict it: chmod 600 ${path}`,
    })
  }
  return profile
}

export function ownEnvironment(): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- A command line is configured by its environment.
  return process.env
}

/** Parts of a request that a command sets. */
interface AskInit {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request to a service of the project. @throws REFUSED with the service's message */
export async function ask(connection: Connection, path: string, init: AskInit = {}): Promise<unknown> {
  const said = await (await request(connection, path, init)).text()
  return said === '' ? null : (JSON.parse(said) as unknown)
}

/** The answer of a service of the project, with an unread body. @throws REFUSED with the service's message */
export async function request(connection: Connection, path: string, init: AskInit = {}): Promise<Response> {
  const json = init.body === undefined ? {} : { 'content-type': 'application/json' }
  const headers = { ...keyHeaders(connection, path), ...json, ...init.headers }
  const response = await fetch(connection.url + path, { ...init, headers })
  if (!response.ok) throw refused(response.status, await response.text())
  return response
}

/**
 * A long answer of a service of the project, with its trailers, which `fetch` does not provide. The trailers are
 * complete when the body has ended.
 *
 * @throws REFUSED with the service's message
 */
export async function stream(connection: Connection, path: string): Promise<IncomingMessage> {
  const url = new URL(connection.url + path)
  // Imported here, because it would delay every call of the program by 30 ms.
  const { get } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'))
  const asked = get(url, { headers: keyHeaders(connection, path) })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw refused(response.statusCode!, await text(response))
  return response
}

function keyHeaders({ key, servicesKey }: Connection, path: string) {
  const sent = path.startsWith('/routing-engine') ? servicesKey : key
  return { apikey: sent, authorization: `Bearer ${sent}` }
}

function refused(status: number, said: string): TerraneError {
  let body: { code?: string; message?: string; error?: string; hint?: string | null } = {}
  try {
    body = JSON.parse(said) as typeof body
  } catch {
    body = { message: said.slice(0, 300) }
  }
  const message = body.message ?? body.error ?? `the answer has status ${status}`
  return new TerraneError(body.code ?? 'REFUSED', 'invalid', message, body.hint ? { hint: body.hint } : {})
}
