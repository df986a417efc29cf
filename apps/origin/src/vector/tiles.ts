import type { Principal } from '@terrane/auth'
import type { Database, Session } from '@terrane/database'
import { Parameters } from '@terrane/database/rest-query'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { RestDeps } from '../rest/call.ts'
import { RestError } from '../rest/errors.ts'
import { beginAs, runAs, type RunAs } from '../rest/execute.ts'
import { answerBytesOf } from '../rest/limits.ts'
import { encodeRows } from './encode-rows.ts'
import { tileTooLarge } from './errors.ts'
import { cachedBytes, sendGiven, tagged, type Given } from './given.ts'
import { findLayer, type Layer } from './layer.ts'
import { findTileFunction, functionSql, type TileFunction } from './tile-function.ts'
import { functionQueryOf, tableQueryOf, type SourceName, type TileRequest } from './tile-request.ts'
import { tileSql } from './tile-sql.ts'

/** Source of the tiles under a name: a table or view, or a function. */
export type TileSource =
  | { readonly kind: 'table'; readonly layer: Layer }
  | { readonly kind: 'function'; readonly fn: TileFunction }

export type TileDeps = Pick<RestDeps, 'database' | 'schemas' | 'limits'> & {
  /** Milliseconds for which a tile is cached for the same caller; 0 for no cache. */
  readonly tileMs: number
}

/** Headers of answers that depend on the caller: caches must revalidate them. */
export const FOR_CALLER = { 'cache-control': 'private, no-cache', vary: 'apikey, Authorization' }

/** Query timeout in milliseconds; same default as pg_tileserv. */
const TIMEOUT_MS = 10_000
/** Cache time of a source; a failed statement removes it earlier, because its table may have changed. */
const SOURCE_MS = 5000
const MOST_SOURCES = 500
const TILE_BYTES = 32 * 1024 * 1024
/** Codes for a column, table or function that does not exist or that the caller may no longer use. */
const CHANGED: ReadonlySet<unknown> = new Set(['42703', '42P01', '42501', '42883'])

/** Tiles of tables, views and functions under the caller's role, cached briefly for the same caller. */
export class Tiles {
  readonly #deps: TileDeps
  readonly #sources = new LRUCache<string, TileSource>({ max: MOST_SOURCES, ttl: SOURCE_MS })
  readonly #given: LRUCache<string, Given>

  constructor(deps: TileDeps) {
    this.#deps = deps
    this.#given = new LRUCache({ maxSize: TILE_BYTES, sizeCalculation: cachedBytes, ttl: deps.tileMs })
  }

  /** Draws a tile for the caller of a request and sends it. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: TileRequest,
    signal: AbortSignal,
  ): Promise<FastifyReply> {
    const principal = request.restCaller as Principal
    const database = this.#deps.database.withSignal(signal)
    const layers: Given[] = []
    const limit = answerBytesOf(principal)
    let total = 0
    for (const source of asked.sources) {
      const layer = await this.#tileOf(database, principal, source, asked)
      total += layer.bytes?.byteLength ?? 0
      if (total > limit) throw tileTooLarge(limit)
      layers.push(layer)
    }
    reply.headers(FOR_CALLER)
    return await sendGiven(request, reply, layers.length === 1 ? layers[0]! : this.#joined(layers))
  }

  /** Layers of a tile are concatenated (Mapbox Vector Tile 2.1, 4.1). */
  #joined(layers: readonly Given[]): Given {
    const name = `joined ${layers.map(({ etag }) => etag).join()}`
    const known = this.#given.get(name)
    if (known) return known
    const given = tagged(Buffer.concat(layers.flatMap(({ bytes }) => bytes ?? [])))
    if (this.#deps.tileMs > 0) this.#given.set(name, given)
    return given
  }

  async #tileOf(database: Database, principal: Principal, source: SourceName, asked: TileRequest): Promise<Given> {
    const { schema, table } = source
    const { z, x, y, parameters } = asked
    // Role and claims are part of the key, because row-level security depends on them.
    const name = JSON.stringify([principal.role, principal.claims, schema, table, parameters.toString(), z, x, y])
    const given = this.#given.get(name)
    if (given) return given
    const properties = parameters.get('properties')
    const sourceName = JSON.stringify([principal.role, schema, table, properties])
    const find = async () => {
      const found = await runAs(database, readingAs(principal, schema), (session) =>
        findSource(session, source, parameters),
      )
      this.#sources.set(sourceName, found)
      return found
    }
    const known = this.#sources.get(sourceName)
    const tile = await drawTile(database, principal, known ?? (await find()), asked).catch(async (error: unknown) => {
      if (!known || !CHANGED.has((error as { code?: unknown }).code)) throw error
      this.#sources.delete(sourceName)
      return drawTile(database, principal, await find(), asked)
    })
    const drawn = tagged(tile)
    if (this.#deps.tileMs > 0) this.#given.set(name, drawn)
    return drawn
  }
}

/** Execution settings of statements for tiles. */
export function readingAs(principal: Principal, schema: string): RunAs {
  return { principal, schema, readOnly: true, rollback: false, timeoutMs: TIMEOUT_MS }
}

/** A table or view with a geometry, or else a tile function, by its name. @throws 42P01, 42703, 42701 */
export async function findSource(
  session: Session,
  { schema, table }: SourceName,
  parameters: URLSearchParams,
): Promise<TileSource> {
  try {
    const listed = parameters.get('properties')
    const properties = listed === null ? null : listed.split(',').filter((name) => name !== '')
    return { kind: 'table', layer: await findLayer(session, schema, table, properties) }
  } catch (error) {
    if (!(error instanceof RestError && error.status === 404)) throw error
    const fn = await findTileFunction(session, schema, table)
    if (fn === null) throw error
    return { kind: 'function', fn }
  }
}

async function drawTile(
  database: Database,
  principal: Principal,
  source: TileSource,
  asked: TileRequest,
): Promise<Uint8Array | null> {
  if (source.kind === 'function') {
    const { text, json } = functionSql(source.fn, asked, functionQueryOf(asked.parameters))
    const { rows } = await runAs(database, readingAs(principal, source.fn.schema), (session) =>
      session.query<{ tile: Uint8Array | null }>(text, [json]),
    )
    return rows[0]?.tile ?? null
  }
  const { layer } = source
  const query = { ...asked, ...tableQueryOf(asked.parameters) }
  const as = readingAs(principal, layer.schema)
  if (database.capabilities.engine === 'pglite')
    return runAs(database, as, (session) => encodeRows(session, layer, query))
  const parameters = new Parameters()
  const text = tileSql(layer, query, parameters)
  const { rows } =
    parameters.values.length === 0
      ? await database.withAnswerBytes(answerBytesOf(principal)).statement<{ tile: Buffer }>(text, beginAs(as))
      : await runAs(database, as, (session) => session.query<{ tile: Buffer }>(text, parameters.values))
  return rows[0]?.tile ?? null
}
