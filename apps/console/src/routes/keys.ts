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
 * `POST /api/projects/{ref}/keys`: the keys of a project, for a member who asks for them. A POST, so that no address
 * alone brings them into a page, and each time is a line in the log.
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
