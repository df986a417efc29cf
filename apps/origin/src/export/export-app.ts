import { writeFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import type { Principal } from '@terrane/auth'
import { EXPORT_FORMATS, type ExportFormat } from '@terrane/contracts'
import { Warnings } from '@terrane/core/errors'
import type { Database, Session } from '@terrane/database'
import { parseQuery, type Condition } from '@terrane/database/rest-query'
import { scanInTurns, scanSession } from '@terrane/database/scan'
import {
  CONTENT_TYPES,
  fileBytes,
  findTable,
  readSystems,
  rowsFor,
  withTypes,
  writeGpkg,
  type ExportSource,
  type Scanner,
} from '@terrane/exports'
import { readParameters, type Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { compressAnswers } from '../compression.ts'
import type { RestDeps } from '../rest/call.ts'
import { sendRestError } from '../rest/errors.ts'
import { runAs, type RunAs } from '../rest/execute.ts'
import { sourceOf } from '../rest/source-of.ts'
import { abortOnDisconnect } from '../abort-on-disconnect.ts'
import { badExport, exportTooLong, noStream } from './errors.ts'
import { StallTimeout, endBySoon, pump, type StallLimits } from './stall-timeout.ts'
import { ExportPlaces, type PlaceLimits } from './places.ts'
import { spooled } from './spool.ts'

/** Attempts in slices before an export is read in one piece, during which all others wait. */
const SLICED_TRIES = 2
/** Parameters that are not filters; unlike filters, each may occur only once. */
const OWN: ReadonlySet<string> = new Set(['format', 'columns', 'apikey'])

/** File extensions by format. */
const ENDINGS: Readonly<Record<Streamed, string>> = {
  GeoParquet: 'parquet',
  GeoPackage: 'gpkg',
  FlatGeobuf: 'fgb',
  GeoJSON: 'geojson',
  GeoJSONSeq: 'geojsonl',
  CSV: 'csv',
}

type Streamed = Exclude<ExportFormat, 'Shapefile'>

export interface ExportLimits extends PlaceLimits, StallLimits {
  /** Timeout of an export in milliseconds. */
  readonly timeoutMs: number
  /** Maximum bytes of a temporary file. */
  readonly fileBytes: number
}

export type ExportDeps = Pick<RestDeps, 'database' | 'schemas' | 'authenticate'> & { readonly limits: ExportLimits }

interface Asked {
  readonly schema: string
  readonly table: string
  readonly format: Streamed
  readonly columns: readonly string[] | null
  readonly conditions: readonly Condition[]
}

/**
 * `/export/v1/{schema.table}?format=…`: a table or view as a file, under the caller's role, with the filters of
 * `/rest/v1` and `columns`. Rows are from one snapshot and are sent as fast as the client reads them. A GeoPackage is
 * first written to a temporary file, and so is every format on the embedded database, whose one session serves all. The
 * file is unlinked before it is sent.
 */
export async function exportRoutes(app: Http, deps: ExportDeps): Promise<void> {
  const places = new ExportPlaces(deps.limits)
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => sendRestError(thrown, request, reply))
      compressAnswers(scope)
      scope.addHook('onRequest', async (request) => {
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00')) throw badExport('a zero byte is part of no name and no value')
      })
      scope.get(
        '/:source',
        abortOnDisconnect(async (request, reply, signal) => {
          const asked = read(deps, request)
          const free = places.take(request.restCaller as Principal, request.ip)
          reply.raw.once('close', free)
          if (reply.raw.closed) free()
          return await sendExport(deps, asked, request, reply, signal)
        }),
      )
    },
    { prefix: '/export/v1' },
  )
}

async function sendExport(
  deps: ExportDeps,
  asked: Asked,
  request: FastifyRequest,
  reply: FastifyReply,
  signal: AbortSignal,
): Promise<FastifyReply> {
  const database = deps.database.withSignal(signal)
  const as: RunAs = {
    principal: request.restCaller as Principal,
    schema: asked.schema,
    readOnly: true,
    isSnapshot: true,
    rollback: false,
    timeoutMs: deps.limits.timeoutMs,
  }
  const timeout = new StallTimeout(deps.limits)
  reply.type(CONTENT_TYPES[asked.format])
  reply.header(
    'content-disposition',
    `attachment; filename*=UTF-8''${encodeURIComponent(asked.table)}.${ENDINGS[asked.format]}`,
  )
  reply.headers({ 'cache-control': 'private, no-store', vary: 'apikey, Authorization' })
  const body = new PassThrough()
  // No error handler is attached until the stream is sent.
  body.on('error', () => {})
  const settle = async (done: Promise<void>) => {
    try {
      await done
      body.end()
      endBySoon(reply.raw, timeout)
    } catch (error) {
      body.destroy(error as Error)
    }
  }
  if (asked.format === 'GeoPackage' || !database.capabilities.parallel) {
    const { file, losses } = await spoolExport({ database, as, asked, signal }, deps.limits)
    const { size } = await file.stat()
    reply.headers({ 'content-length': size, ...headerOf(losses) })
    void settle(pump(file.createReadStream() as AsyncIterable<Uint8Array>, body, timeout, signal))
    return reply.send(body)
  }
  const losses = new Warnings()
  const begun = Promise.withResolvers<void>()
  const done = runAs(database, as, async (session) => {
    const source = await findSource(session, asked)
    const scan: Scanner = (...query) => scanSession(session, ...query)
    const rows = await opened(rowsFor(source, asked.format, scan, losses))
    begun.resolve()
    await pump(fileBytes(source, asked.format as Exclude<Streamed, 'GeoPackage'>, rows, losses), body, timeout, signal)
  })
  done.catch(begun.reject)
  void settle(done)
  await begun.promise
  reply.trailer('x-export-warnings', async () => headerOf(losses)['x-export-warnings'] ?? '')
  return reply.send(body)
}

/** Rows whose first batch has been read, so that missing access to the table has been refused. */
async function opened<T>(rows: AsyncGenerator<T>): Promise<AsyncGenerator<T>> {
  const first = await rows.next()
  return (async function* () {
    try {
      if (!first.done) yield first.value
      yield* rows
    } finally {
      await rows.return(undefined)
    }
  })()
}

interface Spooling {
  readonly database: Database
  readonly as: RunAs
  readonly asked: Asked
  readonly signal: AbortSignal
}

/**
 * Writes the export to a temporary file. The embedded database serves others between two slices of a table. A table
 * that changes meanwhile is read again, after {@link SLICED_TRIES} attempts in one piece.
 */
async function spoolExport(spooling: Spooling, { fileBytes: mostBytes, timeoutMs }: ExportLimits) {
  const { database, as, asked } = spooling
  const late = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([spooling.signal, late])
  const lend: Lend = (run) => runAs(database.withSignal(signal), as, run)
  for (let tries = 1; ; tries++) {
    const losses = new Warnings()
    const isWhole = database.capabilities.parallel || tries > SLICED_TRIES
    try {
      const file = await spooled(mostBytes, (path, bounded) => {
        const write = async (borrow: Lend, scan: Scanner) => {
          const source = await borrow((session) => findSource(session, asked))
          const rows = bounded(rowsFor(source, asked.format, scan, losses))
          if (asked.format === 'GeoPackage')
            await writeGpkg(await borrow((session) => readSystems(session, source)), source, rows, path, losses)
          else await writeFile(path, fileBytes(source, asked.format, rows, losses), { signal })
        }
        if (!isWhole) return write(lend, scanInTurns.bind(null, lend))
        return lend((session) => write((run) => run(session), scanSession.bind(null, session)))
      })
      return { file, losses }
    } catch (error) {
      if (late.aborted) throw exportTooLong(timeoutMs)
      if (isWhole || (error as { code?: unknown }).code !== 'TABLE_CHANGED') throw error
    }
  }
}

/** Lends a session of the caller's role for some statements. */
type Lend = <T>(run: (session: Session) => Promise<T>) => Promise<T>

async function findSource(session: Session, asked: Asked): Promise<ExportSource> {
  return withTypes(session, await findTable(session, asked), asked.format)
}

/** Codes of losses with their counts: `DECIMALS_AS_TEXT=2`. */
function headerOf(losses: Warnings): { 'x-export-warnings'?: string } {
  const list = losses.list().map(({ code, count }) => (count === undefined ? code : `${code}=${count}`))
  return list.length === 0 ? {} : { 'x-export-warnings': list.join(', ') }
}

function read(deps: ExportDeps, request: FastifyRequest): Asked {
  const { schema, table } = sourceOf(deps.schemas, request)
  const parameters = readParameters(request, (name) => !OWN.has(name))
  const wanted = parameters.get('format') ?? 'GeoJSON'
  const format = EXPORT_FORMATS.find((name) => name.toLowerCase() === wanted.toLowerCase())
  if (format === undefined) throw badExport(`format is ${wanted}, none of ${Object.keys(ENDINGS).join(', ')}`)
  if (format === 'Shapefile') throw noStream(format)
  const listed = parameters.get('columns')
  for (const name of OWN) parameters.delete(name)
  const { conditions, select, order, limit, offset } = parseQuery(parameters)
  if (select !== null || order.length > 0 || limit !== null || offset > 0)
    throw badExport(
      'select, order, limit and offset are not taken: an export has all rows that its filters leave; name columns',
    )
  return {
    schema,
    table,
    format,
    columns: listed === null ? null : listed.split(',').filter((name) => name !== ''),
    conditions,
  }
}
