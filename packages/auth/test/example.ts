import { authenticateEither, createVerifier, readCredentials, signToken, type Principal } from '@terrane/auth'

/** A verifier of one project, and a token for one of its users. */
export async function trustProject(projectRef: string, jwtSecret: string, user: string) {
  const verify = createVerifier({ trust: { projectRef, jwtSecret, audiences: ['authenticated'] } })
  const token = await signToken({ ref: projectRef, role: 'authenticated', sub: user }, jwtSecret, 3600)
  const whoIs = (headers: Record<string, string>): Promise<Principal | null> =>
    authenticateEither(readCredentials(headers), verify)
  return { token, whoIs }
}
