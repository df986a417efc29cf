import { once } from 'node:events'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createWriteStream } from 'node:fs'
import type { Principal } from '@terrane/auth'
import { EXPORT_FORMATS, Warnings, type ExportFormat } from '@terrane/contracts'
import { parseQuery, scanSession, type Condition, type Session } from '@terrane/database'
import {
  CONTENT_TYPES,
  fileBytes,
  findTable,
  readSystems,
  rowsFor,
  writeGpkg,
  type ExportSource,
} from '@terrane/exports'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RestDeps } from '../rest/call.ts'
import { toRestError } from '../rest/errors.ts'
import { runAs, type RunAs } from '../rest/execute.ts'
import { sourceOf } from '../rest/source-of.ts'
import { whileThere } from '../while-there.ts'
import { badExport, noStream, tooManyExports } from './errors.ts'

/** A client that takes nothing for so long has its connection ended. */
const STALL_MS = 60_000

/** Endings of file names. */
const ENDINGS: Readonly<Record<Streamed, string>> = {
  GeoParquet: 'parquet',
  GeoPackage: 'gpkg',
  FlatGeobuf: 'fgb',
  GeoJSON: 'geojson',
  GeoJSONSeq: 'geojsonl',
  CSV: 'csv',
}

type Streamed = Exclude<ExportFormat, 'Shapefile'>

export type ExportDeps = Pick<RestDeps, 'database' | 'schemas' | 'authenticate'> & {
  /** Exports at once: each holds a connection of the database while its client reads. */
  readonly most: number
  /** Longest time of an export. */
  readonly timeoutMs: number
}

interface Asked {
  readonly schema: string
  readonly table: string
  readonly format: Streamed
  readonly columns: readonly string[] | null
  readonly conditions: readonly Condition[]
}

/**
 * `/export/v1/{schema.table}?format=…`: a table or view as a file, under the caller's role, with the filters of `/rest/v1`
 * and `columns`. Rows are of one moment and leave as the client takes them. A GeoPackage, and every format on the embedded
 * database, which has one session for all, is written to a temporary file first, that has no name any more when it is sent.
 */
export async function exportRoutes(app: Http, deps: ExportDeps): Promise<void> {
  const running = { count: 0 }
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => {
        const error = toRestError(thrown, request.restCaller?.role === 'anon')
        if (error.status >= 500) request.log.error({ err: thrown }, 'request failed')
        if (error.status === 401) reply.header('www-authenticate', 'Bearer')
        if (error.code === 'EXPORTS_BUSY') reply.header('retry-after', '30')
        void reply.code(error.status).type('application/json; charset=utf-8').send(JSON.stringify(error.toBody()))
      })
      scope.addHook('onRequest', async (request) => {
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00')) throw badExport('a zero byte is part of no name and no value')
      })
      scope.get(
        '/:source',
        whileThere(async (request, reply, signal) => {
          const asked = read(deps, request)
          if (running.count >= deps.most) throw tooManyExports(deps.most)
          running.count++
          reply.raw.once('close', () => running.count--)
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
    timeoutMs: deps.timeoutMs,
  }
  const find = (session: Session) => findTable(session, asked)
  const losses = new Warnings()
  reply.type(CONTENT_TYPES[asked.format])
  reply.header(
    'content-disposition',
    `attachment; filename*=UTF-8''${encodeURIComponent(asked.table)}.${ENDINGS[asked.format]}`,
  )
  reply.headers({ 'cache-control': 'private, no-store', vary: 'apikey, Authorization' })
  if (asked.format === 'GeoPackage' || database.capabilities.engine === 'pglite') {
    const file = await spooled((path) =>
      runAs(database, as, async (session) => writeTo(path, session, await find(session), asked.format, losses, signal)),
    )
    const { size } = await file.stat()
    reply.headers({ 'content-length': size, ...headerOf(losses) })
    return reply.send(file.createReadStream())
  }
  const body = new PassThrough()
  // Before it is sent nobody else listens.
  body.on('error', () => {})
  const begun = Promise.withResolvers<void>()
  const done = runAs(database, as, async (session) => {
    const source = await find(session)
    const bytes = bytesOf(session, source, asked.format as Exclude<Streamed, 'GeoPackage'>, losses)
    begun.resolve()
    await pump(bytes, body, signal)
  })
  done.then(
    () => body.end(),
    (error: unknown) => {
      begun.reject(error)
      body.destroy(error as Error)
    },
  )
  await begun.promise
  reply.trailer('x-export-warnings', async () => headerOf(losses)['x-export-warnings'] ?? '')
  return reply.send(body)
}

function bytesOf(
  session: Session,
  source: ExportSource,
  format: Exclude<Streamed, 'GeoPackage'>,
  losses: Warnings,
): AsyncIterable<Uint8Array | string> {
  const rows = rowsFor(source, format, (...query) => scanSession(session, ...query), losses)
  return fileBytes(source, format, rows, losses)
}

/** Passes bytes on as fast as they are taken. */
async function pump(bytes: AsyncIterable<Uint8Array | string>, body: PassThrough, signal: AbortSignal): Promise<void> {
  for await (const piece of bytes) {
    if (body.write(piece)) continue
    await once(body, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(STALL_MS)]) })
  }
}

async function writeTo(
  path: string,
  session: Session,
  source: ExportSource,
  format: Streamed,
  losses: Warnings,
  signal: AbortSignal,
): Promise<void> {
  if (format !== 'GeoPackage') {
    await pipeline(Readable.from(bytesOf(session, source, format, losses)), createWriteStream(path), { signal })
    return
  }
  const systems = await readSystems(session, source)
  const rows = rowsFor(source, format, (...query) => scanSession(session, ...query), losses)
  await writeGpkg(systems, source, rows, path, losses)
}

/** A file without a name: it is gone as soon as it is closed. */
async function spooled(write: (path: string) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-export-'))
  try {
    const path = join(folder, 'file')
    await write(path)
    return await open(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Codes of what was lost and how often: `DECIMALS_AS_TEXT=2`. */
function headerOf(losses: Warnings): { 'x-export-warnings'?: string } {
  const list = losses.list().map(({ code, count }) => (count === undefined ? code : `${code}=${count}`))
  return list.length === 0 ? {} : { 'x-export-warnings': list.join(', ') }
}

function read(deps: ExportDeps, request: FastifyRequest): Asked {
  const { schema, table } = sourceOf(deps.schemas, request)
  const parameters = new URLSearchParams(request.url.split('?')[1] ?? '')
  const wanted = parameters.get('format') ?? 'GeoJSON'
  const format = EXPORT_FORMATS.find((name) => name.toLowerCase() === wanted.toLowerCase())
  if (format === undefined) throw badExport(`format is ${wanted}, none of ${Object.keys(ENDINGS).join(', ')}`)
  if (format === 'Shapefile') throw noStream(format)
  const listed = parameters.get('columns')
  for (const name of ['format', 'columns', 'apikey']) parameters.delete(name)
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
