import { Problem, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { projectOf, sessionOf } from '../sessions/guard.ts'

const Shown = Type.Union([Type.String(), Type.Null()])
const Keys = Type.Object({
  url: Type.Union([Type.String(), Type.Null()], { description: 'What clients call the project by.' }),
  anon: Shown,
  service_role: Shown,
  services: Shown,
})

/**
 * `POST /api/projects/{ref}/keys`: the keys of a project, on a member's request. It is a POST, so that a link alone
 * does not show them, and each request is logged.
 */
export function keysRoute(app: Http): void {
  const schema = { tags: ['projects'], response: { 200: Keys, '4xx': ref(Problem), '5xx': ref(Problem) } }
  app.post('/api/projects/:ref/keys', { schema }, async (request) => {
    const { connection, id } = projectOf(request)
    const { publicUrl, anonKey, serviceRoleKey, servicesKey } = connection.shown()
    request.log.info({ project: id, user: sessionOf(request).user.id }, 'keys shown')
    return { url: publicUrl, anon: anonKey, service_role: serviceRoleKey, services: servicesKey }
  })
}
