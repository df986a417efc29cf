import { Projects as RegisteredProjects, keysOfProject, openKeyring, registerLocal } from '@terrane/control'
import type { Database } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import type { FunctionsConfig } from '../config.ts'
import type { RegistryIds } from '../registry/registry.ts'
import { localProjects, projectOf, type ProjectSettings, type Projects } from './project.ts'
import { SharedProjects } from './shared.ts'

/** Interval between two reads of the projects. Notifications announce changes in between. */
const POLL_MS = 5000

/** Projects of a host: the one of its settings, or all that the control plane has. */
export async function openProjects(
  config: FunctionsConfig,
  parts: {
    readonly database: Database | null
    readonly sealer: Sealer
    readonly logger: Logger
    readonly opening: AsyncDisposableStack
  },
): Promise<{ projects: Projects; registryIds: RegistryIds }> {
  const { database, sealer, logger, opening } = parts
  const keys =
    database &&
    opening.use(openKeyring({ connect: () => Promise.resolve(database), settings: config.keys, log: logger }))
  const audiences = config.jwtAudiences
  if (config.TERRANE_MODE === 'shared') {
    const onLost = (error: unknown) => logger.warn({ err: error }, 'projects cannot be read')
    const projects = opening.use(
      new SharedProjects({
        registered: new RegisteredProjects(database!, sealer),
        keys: keys!,
        audiences,
        domain: config.TERRANE_FUNCTIONS_DOMAIN!,
        pollMs: POLL_MS,
        onLost,
      }),
    )
    await projects.look()
    return { projects, registryIds: { toRegistry: (id) => id, fromRegistry: (id) => id } }
  }
  const { ref, settings } = localSettings(config)
  const { anonKey, serviceKey: serviceRoleKey, servicesKey } = settings
  const names = { id: ref, ref, folder: ref }
  if (!database || !keys) {
    const projects = localProjects(projectOf(names, settings, audiences, null))
    return { projects, registryIds: { toRegistry: (id) => id, fromRegistry: (id) => id } }
  }
  const { id } = await registerLocal(database, { ref, anonKey, serviceRoleKey, servicesKey }, logger)
  return {
    projects: localProjects(projectOf(names, settings, audiences, keysOfProject(keys, id))),
    registryIds: { toRegistry: () => id, fromRegistry: (found) => (found === id ? ref : null) },
  }
}

function localSettings(config: FunctionsConfig): { ref: string; settings: ProjectSettings } {
  return {
    ref: config.TERRANE_PROJECT_REF,
    settings: {
      apiUrl: config.TERRANE_PROJECT_URL,
      publicUrl: config.TERRANE_PROJECT_PUBLIC_URL,
      anonKey: config.TERRANE_ANON_KEY,
      serviceKey: config.TERRANE_SERVICE_ROLE_KEY,
      servicesKey: config.TERRANE_SERVICES_KEY,
      databaseUrl: config.TERRANE_FUNCTIONS_DATABASE_URL,
      jwtSecret: config.TERRANE_JWT_SECRET,
      jwksUrl: config.TERRANE_JWKS_URL,
    },
  }
}
