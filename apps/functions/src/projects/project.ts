import { createVerifier, hashKey, keyPrincipal, type TokenTrust, type Verify } from '@terrane/auth'
import type { KnownKeys } from '@terrane/control'
import { KeySet, type PublicKey } from './key-set.ts'

/** A project as the functions host knows it. */
export interface Project {
  /**
   * Key for everything that this host stores for the project. On a shared host it is the project's id in the control
   * plane, because two organizations may use the same reference. With a single project it is the reference.
   */
  readonly id: string
  readonly ref: string
  /** Prefix of its deployed code in object storage. */
  readonly folder: string
  /** Base address of its API, the target of `project.internal`. */
  readonly apiUrl: string
  /** Its address for clients outside. Functions find it in their environment; their calls to it go to `apiUrl`. */
  readonly publicUrl: string
  /** A public key. Functions find it in their environment. */
  readonly anonKey: string | null
  /** Never in a function's process: the host adds it to calls of privileged functions. */
  readonly serviceKey: string | null
  /** The organization's key for the shared services, handled the same way. */
  readonly servicesKey: string | null
  /** Its database, as a user who may create roles; null when functions reach it by the API only. */
  readonly databaseUrl: string | null
  readonly verify: Verify
  /** Public keys that verify its tokens; none where all are signed with a secret. */
  readonly publicKeys: () => Promise<readonly PublicKey[]>
}

/** The projects of a host. */
export interface Projects {
  /** The project of a request, by its host name; null when there is no such project. */
  idOf(host: string | undefined): string | null
  /** A project's settings; null when it does not exist. */
  get(id: string): Project | null
  /** The projects of a reference, or of an id: several where organizations use the same reference. */
  named(name: string): readonly Project[]
}

export interface ProjectSettings {
  readonly apiUrl: string
  /** Absent: `apiUrl`. */
  readonly publicUrl?: string | undefined
  readonly anonKey?: string | undefined
  readonly serviceKey?: string | undefined
  readonly servicesKey?: string | undefined
  readonly databaseUrl?: string | undefined
  readonly jwtSecret?: string | undefined
  readonly jwksUrl?: string | undefined
}

/**
 * Makes a project from settings: tokens are verified by HS256 with its secret, and by ES256 and RS256 with its JWKS.
 * Its keys come from the control plane, or from the settings without one.
 *
 * @param audiences accepted values of a token's `aud`
 * @param known records of the control plane; null for the keys of the settings
 */
export function projectOf(
  names: Pick<Project, 'id' | 'ref' | 'folder'>,
  settings: ProjectSettings,
  audiences: readonly string[],
  known: KnownKeys | null,
): Project {
  const { anonKey, serviceKey, servicesKey, jwtSecret, jwksUrl } = settings
  const keySet = jwksUrl === undefined ? null : new KeySet(jwksUrl)
  const trust: TokenTrust = {
    projectRef: names.ref,
    audiences,
    ...(jwtSecret !== undefined && { jwtSecret }),
    ...(keySet && { jwks: keySet.remote }),
  }
  return {
    ...names,
    apiUrl: settings.apiUrl,
    publicUrl: settings.publicUrl ?? settings.apiUrl,
    anonKey: anonKey ?? null,
    serviceKey: serviceKey ?? null,
    servicesKey: servicesKey ?? null,
    databaseUrl: settings.databaseUrl ?? null,
    verify: createVerifier({ ...(known ?? { keys: keysOf(names.ref, settings) }), trust }),
    publicKeys: async () => (keySet ? keySet.read() : []),
  }
}

/** A single project, for every host name. */
export function localProjects(project: Project): Projects {
  const { ref } = project
  const get = (wanted: string) => (wanted === ref ? project : null)
  return { idOf: () => ref, get, named: (name) => (name === ref ? [project] : []) }
}

function keysOf(projectRef: string, { anonKey, serviceKey }: ProjectSettings) {
  const given = [
    [anonKey, 'anon'],
    [serviceKey, 'service_role'],
  ] as const
  return given.flatMap(([key, role]) =>
    key === undefined ? [] : [{ sha256: hashKey(key), principal: keyPrincipal(role, { projectRef }) }],
  )
}
