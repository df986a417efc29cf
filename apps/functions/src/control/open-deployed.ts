import type { Database } from '@terrane/database'
import type { Logger, Sealer } from '@terrane/service'
import { openStore } from '@terrane/storage'
import type { Builder } from '../build/builder.ts'
import { ceilingsOf, type FunctionsConfig } from '../config.ts'
import type { Functions } from '../functions.ts'
import type { Projects } from '../projects/project.ts'
import { Archives } from '../registry/archives.ts'
import { Registry, type RegistryIds } from '../registry/registry.ts'
import type { FolderSource } from '../sources/folder-source.ts'
import { RegistrySource } from '../sources/registry-source.ts'
import type { VersionStore } from '../version-store.ts'
import type { Deployed } from './control-deps.ts'
import { Deployer } from './deployer.ts'

/** Interval between two reads of the registry; with notifications, polling only covers lost ones. */
const POLL_MS = { notified: 5000, blind: 1000 }

/** Begins to serve functions deployed to a host with a registry, and to accept deploys. */
export async function openDeployed(
  config: FunctionsConfig,
  parts: {
    readonly database: Database
    readonly sealer: Sealer
    readonly projects: Projects
    readonly registryIds: RegistryIds
    readonly functions: Functions
    readonly store: VersionStore
    readonly builder: Builder
    readonly folder: FolderSource | null
    readonly logger: Logger
  },
): Promise<Deployed> {
  const { database, projects, functions, store, builder, folder, logger } = parts
  const registry = new Registry(database, parts.sealer, parts.registryIds)
  const folderOf = (id: string) => projects.get(id)!.folder
  const archives = new Archives(openStore(config.TERRANE_FUNCTIONS_STORAGE, config), folderOf, (keys, error) =>
    logger.warn({ keys, err: error }, 'archives that no version needs stay in the storage'),
  )
  const ceilings = ceilingsOf(config)
  const source = new RegistrySource({
    registry,
    archives,
    projects,
    functions,
    store,
    ceilings,
    isTaken: (_project, name) => folder?.has(name) ?? false,
    onFailed: ({ project, name, version }, error) =>
      logger.error({ project, function: name, version, err: error }, 'version cannot be served'),
    onLost: (error) => logger.warn({ err: error }, 'registry cannot be read'),
    pollMs: database.capabilities.notify ? POLL_MS.notified : POLL_MS.blind,
  })
  await source.open()
  const keepVersions = config.keepVersions
  const deployer = new Deployer({ registry, archives, projects, store, builder, source, ceilings, keepVersions })
  return { registry, deployer, source }
}
