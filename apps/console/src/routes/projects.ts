import { Problem, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type, type Static } from 'typebox'
import type { Project, Projects } from '../projects/projects.ts'
import { addressOf, projectOf, sessionOf } from '../sessions/guard.ts'

const ProjectShown = Type.Object({
  id: Type.String({ description: 'Names the project in paths as its reference does, and is never ambiguous.' }),
  ref: Type.String(),
  address: Type.String({
    description:
      'What paths name the project by: the reference, or the id where a person has two projects of one reference.',
  }),
  name: Type.String(),
  organization: Type.Object({ id: Type.String(), name: Type.String() }),
  created_at: Type.String({ format: 'date-time' }),
  services: Type.Record(Type.String(), Type.Boolean(), { description: 'Which services are configured.' }),
})
const problems = { '4xx': ref(Problem), '5xx': ref(Problem) }

/** `GET /api/projects`: the projects of the user's organizations. */
export function projectsRoute(app: Http, projects: Projects): void {
  const schema = {
    tags: ['projects'],
    response: { 200: Type.Object({ data: Type.Array(ProjectShown) }), ...problems },
  }
  app.get('/api/projects', { schema }, async (request) => {
    const all = await projects.list(sessionOf(request).user.id)
    const isOnly = (name: string) => all.filter((project) => project.ref === name).length === 1
    return { data: all.map((project) => shown(project, isOnly(project.ref) ? project.ref : project.id)) }
  })
}

/** `GET /api/projects/{ref}`. */
export function projectRoute(app: Http): void {
  const schema = { tags: ['projects'], response: { 200: ProjectShown, ...problems } }
  app.get('/api/projects/:ref', { schema }, async (request) => shown(projectOf(request), addressOf(request)))
}

function shown(
  { id, ref: projectRef, name, organization, createdAt, connection }: Project,
  address: string,
): Static<typeof ProjectShown> {
  return {
    id,
    ref: projectRef,
    address,
    name,
    organization,
    created_at: createdAt.toISOString(),
    services: connection.configured(),
  }
}
