import { authenticateEither, forbidden, readCredentials, unauthorized, type Verify } from '@terrane/auth'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { SharedProjects } from '../../projects/shared.ts'
import { PROBLEMS, describe } from '../schemas.ts'

const Params = Type.Object({ ref: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,62}$' }) })
const Url = Type.String({ pattern: '^https?://', maxLength: 2000 })
const Settings = Type.Object(
  {
    apiUrl: Type.Unsafe<string>({ ...Url, description: 'Where http://project.internal leads.' }),
    anonKey: Type.Optional(Type.String({ minLength: 16 })),
    serviceKey: Type.Optional(Type.String({ minLength: 16 })),
    servicesKey: Type.Optional(Type.String({ minLength: 16 })),
    jwtSecret: Type.Optional(Type.String({ minLength: 32 })),
    jwksUrl: Type.Optional(Url),
  },
  { additionalProperties: false },
)

/** `PUT /v1/projects/{ref}` on a shared host: tells it of a project. For the operator's services key. */
export function projectRoute(app: Http, projects: SharedProjects, verify: Verify): void {
  const schema = describe('Tell the host of a project; the settings are sealed.', {
    params: Params,
    body: Settings,
    response: PROBLEMS,
  })
  const onRequest = async (request: FastifyRequest) => {
    const principal = await authenticateEither(readCredentials(request.headers), verify)
    if (!principal) throw unauthorized({ reason: 'missing' })
    if (principal.role !== 'services') throw forbidden({ need: "the operator's services key" })
  }
  app.put('/v1/projects/:ref', { schema, onRequest, bodyLimit: 65_536 }, async (request, reply) => {
    await projects.set(request.params.ref, request.body)
    return reply.code(204).send(undefined as never)
  })
}
