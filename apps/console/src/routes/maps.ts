import { addressed, compile, documentOf, type MapDocument } from '@terrane/map-style'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { mapNotFound, originInvalid, serviceDown, tableNotShared } from '../errors.ts'
import type { Endpoint } from '../projects/connections.ts'
import type { Projects } from '../projects/projects.ts'
import { projectOf, sessionOf } from '../sessions/guard.ts'
import { ask, pass, readAnswer, type Ask } from '../upstream/ask.ts'
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
    origins: Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 20,
      description: 'Origins of other pages that may show the map, such as `https://maps.example.org`; `*` for any.',
    }),
  },
  { additionalProperties: false },
)
/** A style has at most 1 MiB; JSON may escape it. */
const MAP_BYTES = 8 << 20

interface StoredMap {
  readonly title: string
  readonly style: unknown
  readonly is_public: boolean
  readonly publishable_key: string | null
  readonly publishable_key_id: string | null
  readonly origins: readonly string[]
}

/** Maps of a project, for its members: save, delete, make public and private. Lists and versions are read by `…/rest/v1/maps`. */
export function mapRoutes(app: Http, keys: Pick<Keys, 'issue' | 'revoke'>): void {
  app.put('/api/projects/:ref/maps/:id', { schema: { params: Params, body: Save } }, async (request, reply) => {
    const { version, title, style } = request.body
    // What cannot be read again is not kept, and nothing but the document decides what the style is.
    const args = { p_id: request.params.id, p_version: version, p_title: title, p_style: compile(documentOf(style)) }
    return pass(reply, await ask(request, reply, projectOf(request).connection.data(), call('save_map', args)))
  })
  app.delete('/api/projects/:ref/maps/:id', { schema: { params: Params } }, async (request, reply) => {
    const found = await readMap(request, reply, projectOf(request).connection.data(), '')
    if (found.publishable_key_id !== null) await keys.revoke(found.publishable_key_id)
    return pass(reply, await change(request, reply, { method: 'DELETE' }))
  })
  app.post('/api/projects/:ref/maps/:id/share', { schema: { params: Params, body: Share } }, async (request, reply) => {
    const { id: projectId, organization, connection } = projectOf(request)
    for (const origin of request.body.origins)
      if (origin !== '*' && URL.parse(origin)?.origin !== origin) throw originInvalid({ origin })
    const found = await readMap(request, reply, connection.data(), '')
    const tables = tablesOf(documentOf(found.style))
    for (const table of tables) await shareTable(request, reply, table)
    const origins = [...new Set([`${request.protocol}://${request.host}`, ...request.body.origins])]
    const limits = { tables, origins }
    const label = `map ${request.params.id}`
    const { key, record } = await keys.issue({
      organizationId: organization.id,
      projectId,
      role: 'anon',
      limits,
      label,
    })
    request.log.info(
      { project: projectId, map: request.params.id, user: sessionOf(request).user.id },
      'map made public',
    )
    const shared = {
      is_public: true,
      publishable_key: key,
      publishable_key_id: record.id,
      origins: request.body.origins,
    }
    const kept = await change(request, reply, { method: 'PATCH', body: JSON.stringify(shared) })
    // A key that no map names would open its tables for good.
    const ended = kept.ok ? found.publishable_key_id : record.id
    if (ended !== null) await keys.revoke(ended)
    if (!kept.ok) throw serviceDown({ service: connection.data().service })
    return { path: `/m/${projectId}/${request.params.id}`, tables }
  })
  app.delete('/api/projects/:ref/maps/:id/share', { schema: { params: Params } }, async (request, reply) => {
    const found = await readMap(request, reply, projectOf(request).connection.data(), '')
    if (found.publishable_key_id !== null) await keys.revoke(found.publishable_key_id)
    const ended = { is_public: false, publishable_key: null, publishable_key_id: null, origins: [] }
    return pass(reply, await change(request, reply, { method: 'PATCH', body: JSON.stringify(ended) }))
  })
}

/**
 * `/api/m/{project id}/{map id}`: the style of a public map, its tiles with the map's publishable key. Anyone may read it; the
 * key opens the map's tables to pages of the map's origins.
 */
export function publicMapRoutes(app: Http, projects: Pick<Projects, 'open'>): void {
  app.get('/api/m/:ref/:id', { schema: { params: Params } }, async (request, reply) => {
    const connection = await projects.open(request.params.ref)
    const to = connection.data()
    const { style, publishable_key: key } = await readMap(request, reply, to, '&is_public=is.true')
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    return addressed(compile(documentOf(style)), to.base, key)
  })
}

/** Where a public map may be shown, and where its tiles come from; null for what is no public map. */
export async function placesOf(
  request: FastifyRequest,
  reply: FastifyReply,
  projects: Pick<Projects, 'open'>,
): Promise<{ readonly origins: readonly string[]; readonly base: string } | null> {
  try {
    const { ref } = request.params as { ref: string }
    const to = (await projects.open(ref)).data()
    const { origins } = await readMap(request, reply, to, '&is_public=is.true')
    return { origins, base: new URL(to.base).origin }
  } catch (error) {
    request.log.info({ err: error }, 'no public map')
    return null
  }
}

function tablesOf({ layers }: MapDocument): string[] {
  return [...new Set(layers.flatMap((layer) => (layer.kind === 'vector' ? [layer.table] : [])))]
}

async function readMap(request: FastifyRequest, reply: FastifyReply, to: Endpoint, filter: string): Promise<StoredMap> {
  const { id } = request.params as { id: string }
  if (!new RegExp(UUID).test(id)) throw mapNotFound({ id })
  const query = new URLSearchParams(`id=eq.${id}${filter}`)
  query.set('select', 'title,style,is_public,publishable_key,publishable_key_id,origins')
  const response = await ask(request, reply, to, { ...MAPS, method: 'GET', query })
  const rows = await readAnswer(to, response, MAP_BYTES)
  const [found] = Array.isArray(rows) ? (rows as StoredMap[]) : []
  if (!found) throw mapNotFound({ id })
  return found
}

function change(request: FastifyRequest, reply: FastifyReply, what: Pick<Ask, 'method' | 'body'>): Promise<Response> {
  const { id } = request.params as { id: string }
  const query = new URLSearchParams(`id=eq.${id}`)
  return ask(request, reply, projectOf(request).connection.data(), { ...MAPS, ...what, query })
}

const PROFILE = { 'accept-profile': 'geoembeddings', 'content-profile': 'geoembeddings' }
const MAPS = { path: '/rest/v1/maps', headers: { ...PROFILE, accept: 'application/json', prefer: 'return=minimal' } }

function call(name: string, args: object): Ask {
  return { method: 'POST', path: `/rest/v1/rpc/${name}`, headers: PROFILE, body: JSON.stringify(args) }
}

async function shareTable(request: FastifyRequest, reply: FastifyReply, table: string): Promise<void> {
  const [schema = '', ...name] = table.split('.')
  const to = projectOf(request).connection.data()
  const args = { p_schema: schema, p_table: name.join('.'), p_role: 'anon' }
  const response = await ask(request, reply, to, call('share_table', args))
  if (!response.ok)
    throw tableNotShared({ table, reason: (await readAnswer(to, response, 65_536)) as { message?: string } })
  await response.body?.cancel()
}
