import { authenticateEither, forbidden, readCredentials, unauthorized, type Principal } from '@terrane/auth'
import { credentialOf, rateSubject, type RateLimits } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { projectNotFound } from '../errors.ts'
import type { Project, Projects } from '../projects/project.ts'

/**
 * Access check of the deploy API: only the service role of the project itself. Where organizations use the same
 * reference, the key decides which project is meant. After the check `ref` is the host's id of the project.
 *
 * @throws PROJECT_NOT_FOUND, UNAUTHORIZED, FORBIDDEN, RATE_LIMITED
 */
export function checkControlAccess(projects: Projects, limits: RateLimits): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    const params = request.params as { ref: string }
    const named = projects.named(params.ref)
    if (named.length === 0) throw projectNotFound({ ref: params.ref })
    const { project, principal } = await limits.verify(request.ip, credentialOf(request.headers), () =>
      whose(named, request),
    )
    limits.count(rateSubject(request, principal.role === 'service_role'))
    if (principal.role !== 'service_role') throw forbidden({ need: 'the service role' })
    params.ref = project.id
  }
}

async function whose(
  candidates: readonly Project[],
  request: FastifyRequest,
): Promise<{ project: Project; principal: Principal }> {
  const credentials = readCredentials(request.headers)
  let refusal: unknown = unauthorized({ reason: 'missing' })
  for (const project of candidates) {
    try {
      const principal = await authenticateEither(credentials, project.verify)
      if (principal) return { project, principal }
    } catch (error) {
      refusal = error
    }
  }
  throw refusal
}
