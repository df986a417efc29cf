import { Client, Pool } from 'pg'

/** A client whose connection the server may end. */
export interface TestClient extends Client, AsyncDisposable {
  /** The first error outside a query; null while there is none. */
  last: { readonly code?: string } | null
}

/** Connects a client. */
export async function connect(url: string): Promise<TestClient> {
  const client = new Client({ connectionString: url })
  const tested: TestClient = Object.assign(client, { last: null, [Symbol.asyncDispose]: () => client.end() })
  client.on('error', (error: Error & { code?: string }) => (tested.last ??= error))
  await client.connect()
  return tested
}

/** A pool whose idle connections the server may end. */
export function openPool(url: string): Pool & AsyncDisposable {
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.end() })
}
