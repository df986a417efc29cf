import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEPTH_HEADER } from '@terrane/contracts/events'
import { refuseCostlyJson } from '@terrane/service'
import { readBindings } from '../bindings.ts'
import { stateStays } from '../errors.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { ProjectAddress } from './project-address.ts'

/** Host name for the state of functions. */
export const STATE_HOST = 'state.internal'
/** Largest request: a commit of 800 KiB, or a value of 1 MiB, as Base64 in JSON. */
const MAX_BYTES = 2 * 1024 * 1024
/**
 * Maximum number of JSON values in a request; a commit has 2,100. It bounds the memory of the parsed request, because
 * all functions share the host's memory.
 */
const MAX_VALUES = 50_000
/** Largest answer: entries of 4 MiB, as Base64 and hexadecimal in JSON. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const ASK_MS = 30_000
/** Operations that functions may ask for. */
const OWN: ReadonlySet<unknown> = new Set(['get', 'list', 'write'])

/** A request of a function for state. */
export interface StateRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly version: FunctionVersion
}

/**
 * Carries a request for state to the project's database. The store is the function's own, or a namespace that its
 * policy binds; other namespaces are refused.
 *
 * @param depth signed depth of the chain of functions, for the messages that a commit sends
 */
export async function carryState(
  { request, response, version }: StateRequest,
  address: ProjectAddress,
  depth: string,
): Promise<void> {
  const refuse = (status: number, message: string) => {
    if (response.headersSent || response.destroyed) return
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  }
  try {
    // The stream stays open, because the answer to a request that is too large uses its connection.
    const body = await bytesOf(request.iterator({ destroyOnReturn: false }), MAX_BYTES)
    if (body === null) return refuse(413, `a request for state has at most ${MAX_BYTES} bytes`)
    const text = body.toString('utf8')
    if (isCostly(text)) return refuse(413, `a request for state has at most ${MAX_VALUES} values, 100 levels deep`)
    const { store, ...asked } = readJson(text)
    if (!OWN.has(asked['operation']))
      return refuse(403, 'the state of a function is removed and renamed with the function')
    const name = storeOf(version, store)
    if (name === null) return refuse(403, 'the namespace is not in the bindings of the function')
    const answer = await askState(address, name, asked, { [DEPTH_HEADER]: depth })
    if (!answer) return refuse(503, 'the project has no service key here, so it keeps no state')
    const bytes = await bytesOf(answer.body ?? [], MAX_ANSWER_BYTES)
    if (bytes === null) return refuse(502, 'the answer of the database is not one of state')
    if (!response.destroyed) response.writeHead(answer.status, { 'content-type': 'application/json' }).end(bytes)
  } catch {
    refuse(503, 'the database of the project cannot be reached')
  }
}

/**
 * Removes all state of a function, or moves it to another name; does nothing if the project has no state.
 *
 * @throws FUNCTION_STATE_STAYS
 */
export async function moveState(
  address: Pick<ProjectAddress, 'serviceKey' | 'apiUrl'>,
  name: string,
  request: { readonly operation: 'remove' } | { readonly operation: 'rename'; readonly to: string },
): Promise<void> {
  const answer = await askState(address, `fn:${name}:`, request).catch((error: unknown) => {
    throw stateStays({ name, reason: String(error) })
  })
  await answer?.body?.cancel()
  if (answer && !answer.ok && answer.status !== 404) throw stateStays({ name, reason: `HTTP status ${answer.status}` })
}

/** Null for a project without a service key. */
async function askState(
  { serviceKey, apiUrl }: Pick<ProjectAddress, 'serviceKey' | 'apiUrl'>,
  store: string,
  request: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response | null> {
  if (serviceKey === null) return null
  return fetch(`${apiUrl.replace(/\/$/, '')}/rest/v1/rpc/state`, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      'content-profile': 'geoembeddings',
      apikey: serviceKey,
      authorization: `Bearer ${serviceKey}`,
    },
    body: JSON.stringify({ store, request }),
    redirect: 'manual',
    signal: AbortSignal.timeout(ASK_MS),
  })
}

/** The store in the database; null for one that the function may not use. */
function storeOf({ name, policy }: FunctionVersion, store: unknown): string | null {
  if (!Array.isArray(store) || !store.every((part) => typeof part === 'string')) return null
  const [kind = '', given = ''] = store as readonly string[]
  if (given.length > 200) return null
  if (kind === 'fn') return `fn:${name}:${given}`
  if (kind === 'cache') return `cache:${name}:`
  const isBound = readBindings(policy.bindings).some((binding) => binding.kind === 'kv' && binding.value === given)
  return kind === 'kv' && isBound ? `kv:${given}` : null
}

/** The bytes of a stream; null for one of more than `most`. */
export async function bytesOf(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  most: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > most) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function isCostly(text: string): boolean {
  try {
    refuseCostlyJson(text, MAX_VALUES)
    return false
  } catch {
    return true
  }
}

function readJson(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? { ...value } : {}
  } catch {
    return {}
  }
}
