import { join, resolve } from 'node:path'
import type { Builder } from '../build/builder.ts'
import { ceilingsOf, type FunctionsConfig } from '../config.ts'
import type { Functions } from '../functions.ts'
import type { LogBook } from '../observe/log-book.ts'
import type { InstanceFactory } from '../pool/factory.ts'
import type { Projects } from '../projects/project.ts'
import type { ServedFunctions } from '../registry/served-functions.ts'
import { VersionStore } from '../version-store.ts'
import type { FolderEvents } from './folder-context.ts'
import { functionsRootOf } from './functions-root.ts'
import { FolderSource } from './folder-source.ts'

/** Starts to serve the functions folder of a local host; null when there is no folder. */
export async function openFolder(
  config: FunctionsConfig,
  parts: {
    readonly projects: Projects
    readonly functions: Functions
    readonly factory: InstanceFactory
    readonly builder: Builder
    readonly logBook: LogBook
    readonly served: ServedFunctions | null
    readonly checkTypes: boolean
  },
): Promise<FolderSource | null> {
  const { projects, functions, factory, builder, logBook, served, checkTypes } = parts
  const project = projects.get(config.TERRANE_PROJECT_REF)
  if (config.TERRANE_FUNCTIONS_DIR === undefined || config.TERRANE_MODE === 'shared' || !project) return null
  const folder = new FolderSource({
    root: functionsRootOf(resolve(config.TERRANE_FUNCTIONS_DIR)),
    project,
    ceilings: ceilingsOf(config),
    functions,
    builder,
    served,
    hasTypes: checkTypes,
    // Versions built here live as long as the process.
    store: new VersionStore(join(factory.base, 'versions'), factory),
    events: eventsOf(project.id, logBook),
  })
  await folder.open()
  return folder
}

function eventsOf(project: string, logBook: LogBook): FolderEvents {
  const subject = (name: string) => ({ project, name, version: 0 })
  return {
    built: ({ name }, ms) => logBook.event('info', subject(name), 'function built', { ms: Math.round(ms) }),
    types({ name }, { errors, unchecked }) {
      if (unchecked !== null) logBook.event('info', subject(name), 'types not looked at', { reason: unchecked })
      for (const error of errors) logBook.event('warn', subject(name), 'type error', { error })
    },
    ignored: (name, variables) =>
      logBook.event('warn', subject(name), 'variables of .env are left out: the host sets names like these', {
        variables,
      }),
    failed(name, error) {
      const { message, details, detail } = error as { message: string; details?: string; detail?: string }
      logBook.event('error', subject(name), 'function not built', { reason: message, details: details ?? detail })
    },
  }
}
