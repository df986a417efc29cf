import { createVerifier, hashKey, keyPrincipal, type StoredKey, type TokenTrust, type Verify } from '@terrane/auth'
import { createRemoteJWKSet } from 'jose'

/** A project as the functions host knows it. */
export interface Project {
  readonly ref: string
  /** Base address of its API, where `project.internal` leads. */
  readonly apiUrl: string
  /** Public by nature; functions find it in their environment. */
  readonly anonKey: string | null
  /** Never in a function's process: the host adds it to calls of privileged functions. */
  readonly serviceKey: string | null
  /** The organization's key for the shared services, kept likewise. */
  readonly servicesKey: string | null
  readonly verify: Verify
}

/** The projects of a host. */
export interface Projects {
  /** The project that a request is for, by the host name it was sent to; null when there is none. */
  refOf(host: string | undefined): string | null
  /** What is known of a project; null when there is none. */
  get(ref: string): Project | null
}

export interface ProjectSettings {
  readonly apiUrl: string
  readonly anonKey?: string
  readonly serviceKey?: string
  readonly servicesKey?: string
  readonly jwtSecret?: string
  readonly jwksUrl?: string
}

/** A project of these settings: tokens are verified by HS256 with its secret, by ES256 and RS256 with its JWKS. */
export function projectOf(ref: string, settings: ProjectSettings): Project {
  const { apiUrl, anonKey, serviceKey, jwtSecret, jwksUrl } = settings
  const keys: StoredKey[] = []
  for (const [key, role] of [
    [anonKey, 'anon'],
    [serviceKey, 'service_role'],
  ] as const) {
    if (key !== undefined) keys.push({ sha256: hashKey(key), principal: keyPrincipal(role, { projectRef: ref }) })
  }
  const trust: TokenTrust = {
    projectRef: ref,
    ...(jwtSecret !== undefined && { jwtSecret }),
    ...(jwksUrl !== undefined && { jwks: createRemoteJWKSet(new URL(jwksUrl)) }),
  }
  return {
    ref,
    apiUrl,
    anonKey: anonKey ?? null,
    serviceKey: serviceKey ?? null,
    servicesKey: settings.servicesKey ?? null,
    verify: createVerifier({ keys, trust }),
  }
}

/** One project, whatever host name a request was sent to. */
export function localProjects(ref: string, settings: ProjectSettings): Projects {
  const project = projectOf(ref, settings)
  return { refOf: () => ref, get: (wanted) => (wanted === ref ? project : null) }
}
