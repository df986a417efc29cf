import type { IncomingMessage, ServerResponse } from 'node:http'
import { readBindings } from '../bindings.ts'
import type { FunctionVersion } from '../function-version.ts'
import { passable } from './forward.ts'
import type { ProjectAddress } from './project-address.ts'

/** Where functions keep their state. */
export const STATE_HOST = 'state.internal'
/** Largest request: a commit of 800 KiB, or a value of 1 MiB, as Base64 in JSON. */
const MAX_BYTES = 2 * 1024 * 1024

/**
 * Carries a request for state to the project's database. The store is of the function itself, or a namespace that its
 * policy binds, whatever the function asks for.
 */
export async function carryState(
  request: IncomingMessage,
  response: ServerResponse,
  version: FunctionVersion,
  address: ProjectAddress,
): Promise<void> {
  const refuse = (status: number, message: string) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
  }
  const { serviceKey, apiUrl } = address
  if (serviceKey === null) return refuse(503, 'the project has no service key here, so it keeps no state')
  const body = await bodyOf(request)
  if (body === null) return refuse(413, `a request for state has at most ${MAX_BYTES} bytes`)
  const { store, ...asked } = readJson(body)
  const name = storeOf(version, store)
  if (name === null) return refuse(403, 'the namespace is not in the bindings of the function')
  try {
    const answer = await fetch(`${apiUrl.replace(/\/$/, '')}/rest/v1/rpc/state`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-profile': 'geoembeddings',
        apikey: serviceKey,
        authorization: `Bearer ${serviceKey}`,
      },
      body: JSON.stringify({ store: name, request: asked }),
      redirect: 'manual',
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const headers = passable(Object.fromEntries(answer.headers))
    for (const header of ['content-encoding', 'content-length']) delete headers[header]
    response.writeHead(answer.status, headers).end(bytes)
  } catch {
    refuse(503, 'the database of the project cannot be reached')
  }
}

/** The store in the database; null for one that the function may not use. */
function storeOf({ name, policy }: FunctionVersion, store: unknown): string | null {
  if (!Array.isArray(store) || !store.every((part) => typeof part === 'string')) return null
  const [kind = '', given = ''] = store as readonly string[]
  if (given.length > 200) return null
  if (kind === 'fn' || kind === 'cache') return `${kind}:${name}:${given}`
  const isBound = readBindings(policy.bindings).some((binding) => binding.kind === 'kv' && binding.value === given)
  return kind === 'kv' && isBound ? `kv:${given}` : null
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function readJson(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return value !== null && typeof value === 'object' ? { ...value } : {}
  } catch {
    return {}
  }
}
