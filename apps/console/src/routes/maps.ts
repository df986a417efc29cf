import { addressed, compile, documentOf, publishedOf, tablesOf } from '@terrane/map-style'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { mapChanged, mapNotFound, originInvalid, serviceDown, tableNotShared } from '../errors.ts'
import type { Endpoint } from '../projects/connections.ts'
import type { Projects } from '../projects/projects.ts'
import { projectOf, sessionOf } from '../sessions/guard.ts'
import { ask, pass, readAnswer, type Ask } from '../upstream/ask.ts'
import { PROFILE, relayToProject, rpc } from '../upstream/relay.ts'
import type { Keys } from '@terrane/control'

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
const Params = Type.Object({ ref: Type.String(), id: Type.String({ pattern: UUID }) })
const Save = Type.Object(
  {
    version: Type.Integer({ minimum: 0, description: 'The version that was edited; 0 makes the map.' }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    style: Type.Object(
      {},
      { additionalProperties: true, description: 'A MapLibre style with `metadata["terrane:map"]`.' },
    ),
  },
  { additionalProperties: false },
)
const Share = Type.Object(
  {
    version: Type.Integer({ minimum: 1, description: 'The version that becomes public.' }),
    tables: Type.Array(Type.String({ maxLength: 200 }), {
      maxItems: 60,
      description: 'Tables of its shown layers, which all become readable for everyone.',
    }),
    origins: Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 20,
      description: 'Origins of other pages that may show the map, such as `https://maps.example.org`; `*` for any.',
    }),
  },
  { additionalProperties: false },
)
/** A style has at most 1 MiB, but JSON escapes can make it longer. */
const MAP_BYTES = 8 << 20

/** A picture as the database takes it. */
const PICTURE = /^data:(image\/(?:webp|png));base64,([A-Za-z0-9+/]+={0,2})$/
const Picture = Type.Object(
  { picture: Type.String({ maxLength: 65_536, pattern: PICTURE.source, description: 'A WebP or PNG as a data URL.' }) },
  { additionalProperties: false },
)

/** Origins in the form of browsers; other texts must not become part of a header. */
const ORIGIN = /^https?:\/\/[\w.-]+(:\d+)?$/
const isOrigin = (text: string) => text === '*' || (ORIGIN.test(text) && URL.parse(text)?.origin === text)

interface StoredMap {
  readonly version: number
  readonly style: unknown
}

interface PublicMap {
  readonly style: unknown
  readonly publishable_key: string | null
  readonly origins: readonly string[]
}

/** Label of a map's publishable keys, by which they are revoked. The map's row may contain keys of other maps. */
const labelOf = (id: string) => `map ${id}`

/** Maps of a project, for its members: save, delete, make public and private. Lists and versions are read by `…/rest/v1/maps`. */
export function mapRoutes(app: Http, keys: Pick<Keys, 'issue' | 'revokeLabelled'>): void {
  app.put('/api/projects/:ref/maps/:id', { schema: { params: Params, body: Save } }, (request, reply) => {
    const { version, title, style } = request.body
    // A document that cannot be parsed again is refused. The style is computed from the document only.
    const args = { p_id: request.params.id, p_version: version, p_title: title, p_style: compile(documentOf(style)) }
    return relayToProject(request, reply, rpc('save_map', args))
  })
  app.put(
    '/api/projects/:ref/maps/:id/picture',
    { schema: { params: Params, body: Picture } },
    async (request, reply) =>
      pass(reply, await change(request, reply, { method: 'PATCH', body: JSON.stringify(request.body) })),
  )
  app.get('/api/projects/:ref/maps/:id/picture', { schema: { params: Params } }, async (request, reply) => {
    const found = await readMap<{ picture: string | null }>(request, reply, projectOf(request).connection.data(), DRAWN)
    const [, type, bytes] = PICTURE.exec(found.picture ?? '') ?? []
    reply.header('cache-control', 'private, no-cache')
    // A map without a picture is not an error.
    if (type === undefined || bytes === undefined) return reply.code(204).send()
    return reply.type(type).send(Buffer.from(bytes, 'base64'))
  })
  app.delete('/api/projects/:ref/maps/:id', { schema: { params: Params } }, async (request, reply) => {
    await close(request, reply, keys)
    return pass(reply, await change(request, reply, { method: 'DELETE' }))
  })
  app.post('/api/projects/:ref/maps/:id/share', { schema: { params: Params, body: Share } }, async (request, reply) => {
    const { id: projectId, connection } = projectOf(request)
    const { id } = request.params
    const { origins, version, tables } = request.body
    for (const origin of origins) if (!isOrigin(origin)) throw originInvalid({ origin })
    const found = await readMap<StoredMap>(request, reply, connection.data(), STORED)
    const map = publishedOf(documentOf(found.style))
    // Refuses tables that the dialog did not show to the member.
    if (found.version !== version || tablesOf(map).toSorted().join('/') !== tables.toSorted().join('/'))
      throw mapChanged({ id })
    await using opened = await shareTables(request, reply, tablesOf(map))
    const { key, keyId } = await issueKey(request, keys, tablesOf(map))
    request.log.info({ project: projectId, map: id, user: sessionOf(request).user.id }, 'map made public')
    const shown = { is_public: true, published_title: map.title, published_style: compile(map) }
    const body = JSON.stringify({ ...shown, publishable_key: key, origins })
    const kept = await change(request, reply, { method: 'PATCH', body }).catch(() => null)
    // The map was not stored, so its keys are revoked: the new one would stay valid without any map that contains it.
    if (!kept?.ok) {
      await keys.revokeLabelled(projectId, labelOf(id))
      throw serviceDown({ service: connection.data().service })
    }
    opened.keep()
    await keys.revokeLabelled(projectId, labelOf(id), keyId)
    return { path: `/m/${projectId}/${id}`, tables: tablesOf(map) }
  })
  app.delete('/api/projects/:ref/maps/:id/share', { schema: { params: Params } }, async (request, reply) =>
    pass(reply, await close(request, reply, keys)),
  )
}

/** Makes a map private, then revokes its keys. They are found by their label, because the map's row may name others. */
async function close(
  request: FastifyRequest,
  reply: FastifyReply,
  keys: Pick<Keys, 'revokeLabelled'>,
): Promise<Response> {
  const { id: projectId, connection } = projectOf(request)
  const { id } = request.params as { id: string }
  await readMap<StoredMap>(request, reply, connection.data(), STORED)
  const ended = { is_public: false, published_title: null, published_style: null, publishable_key: null, origins: [] }
  const closed = await change(request, reply, { method: 'PATCH', body: JSON.stringify(ended) })
  await keys.revokeLabelled(projectId, labelOf(id))
  if (!closed.ok) throw serviceDown({ service: connection.data().service })
  return closed
}

async function issueKey(
  request: FastifyRequest,
  keys: Pick<Keys, 'issue'>,
  tables: readonly string[],
): Promise<{ readonly key: string; readonly keyId: string }> {
  const { id: projectId, organization } = projectOf(request)
  const { id } = request.params as { id: string }
  const { origins } = request.body as { origins: readonly string[] }
  const limits = { tables, origins: [...new Set([`${request.protocol}://${request.host}`, ...origins])] }
  const about = { organizationId: organization.id, projectId, role: 'anon', label: labelOf(id) } as const
  const { key, record } = await keys.issue({ ...about, limits })
  return { key, keyId: record.id }
}

/**
 * `/api/m/{project id}/{map id}`: the style of a public map, whose tiles use the map's publishable key. Anyone may read
 * it; the key gives pages of the map's origins access to the map's tables.
 */
export function publicMapRoutes(app: Http, projects: Pick<Projects, 'open'>): void {
  // An invalid id is a wrong link, not a wrong request.
  const params = Type.Object({ ref: Type.String(), id: Type.String() })
  app.get('/api/m/:ref/:id', { schema: { params } }, async (request, reply) => {
    const connection = await projects.open(request.params.ref)
    const to = connection.data()
    const { style, publishable_key: key } = await readMap<PublicMap>(request, reply, to, PUBLIC)
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    return addressed(compile(documentOf(style)), connection.publicBase(), key)
  })
}

/** Origins that may embed a public map, and the origin of its tiles; null for other maps. */
export async function placesOf(
  request: FastifyRequest,
  reply: FastifyReply,
  projects: Pick<Projects, 'open'>,
): Promise<{ readonly origins: readonly string[]; readonly base: string } | null> {
  try {
    const { ref } = request.params as { ref: string }
    const connection = await projects.open(ref)
    const { origins } = await readMap<PublicMap>(request, reply, connection.data(), PUBLIC)
    return { origins: origins.filter(isOrigin), base: new URL(connection.publicBase()).origin }
  } catch (error) {
    request.log.info({ err: error }, 'no public map')
    return null
  }
}

const STORED = { of: '/rest/v1/maps', select: 'version,style' }
const DRAWN = { of: '/rest/v1/maps', select: 'picture' }
const PUBLIC = { of: '/rest/v1/public_maps', select: 'style,publishable_key,origins' }

async function readMap<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  to: Endpoint,
  { of: path, select }: { readonly of: string; readonly select: string },
): Promise<T> {
  const { id } = request.params as { id: string }
  if (!new RegExp(UUID).test(id)) throw mapNotFound({ id })
  const query = new URLSearchParams({ id: `eq.${id}`, select })
  const response = await ask(request, reply, to, { ...MAPS, path, method: 'GET', query })
  const rows = await readAnswer(to, response, MAP_BYTES)
  const [found] = Array.isArray(rows) ? (rows as T[]) : []
  if (!found) throw mapNotFound({ id })
  return found
}

function change(request: FastifyRequest, reply: FastifyReply, what: Pick<Ask, 'method' | 'body'>): Promise<Response> {
  const { id } = request.params as { id: string }
  const query = new URLSearchParams(`id=eq.${id}`)
  return ask(request, reply, projectOf(request).connection.data(), { ...MAPS, ...what, query })
}

const MAPS = { path: '/rest/v1/maps', headers: { ...PROFILE, accept: 'application/json', prefer: 'return=minimal' } }

/** Makes tables public. Newly shared ones are made private again at the end, unless they are kept. */
async function shareTables(
  request: FastifyRequest,
  reply: FastifyReply,
  tables: readonly string[],
): Promise<AsyncDisposable & { keep: () => void }> {
  const to = projectOf(request).connection.data()
  const send = (name: string, table: string) => {
    const dot = table.indexOf('.')
    const args = { p_schema: table.slice(0, dot), p_table: table.slice(dot + 1), p_role: 'anon' }
    return ask(request, reply, to, rpc(name, args))
  }
  const listed = await readAnswer(to, await ask(request, reply, to, rpc('list_tables', {})), MAP_BYTES)
  const before = new Set(
    (Array.isArray(listed) ? (listed as ListedTable[]) : [])
      .filter(({ shared_with: roles }) => roles?.includes('anon'))
      .map(({ table_schema: schema, table_name: name }) => `${schema}.${name}`),
  )
  await using undo = new AsyncDisposableStack()
  for (const table of tables) {
    const again = () => send('unshare_table', table).then((response) => response.body?.cancel())
    const isLost = (error: unknown) => request.log.error({ err: error, table }, 'a table was left open')
    if (!before.has(table)) undo.defer(() => again().catch(isLost))
    const response = await send('share_table', table)
    const answer = (await readAnswer(to, response, 65_536).catch(() => ({}))) as { message?: string }
    if (!response.ok) throw tableNotShared({ table, reason: answer })
  }
  const all = undo.move()
  return { keep: () => void all.move(), [Symbol.asyncDispose]: () => all.disposeAsync() }
}

interface ListedTable {
  readonly table_schema: string
  readonly table_name: string
  readonly shared_with: readonly string[] | null
}
