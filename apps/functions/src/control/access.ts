import { authenticateEither, forbidden, readCredentials, unauthorized } from '@terrane/auth'
import type { FastifyRequest } from 'fastify'
import { projectNotFound } from '../errors.ts'
import type { Projects } from '../projects/project.ts'

/**
 * The door of the deploy API: the service role of the very project.
 *
 * @throws PROJECT_NOT_FOUND, UNAUTHORIZED, FORBIDDEN
 */
export function checkControlAccess(projects: Projects): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const { ref } = request.params as { ref: string }
    const project = projects.get(ref)
    if (!project) throw projectNotFound({ ref })
    const principal = await authenticateEither(readCredentials(request.headers), project.verify)
    if (!principal) throw unauthorized({ reason: 'missing' })
    if (principal.role !== 'service_role' || principal.projectRef !== ref) throw forbidden({ need: 'the service role' })
  }
}
