import type { Http } from '@terrane/service'
import type { Static } from 'typebox'
import { functionNotFound } from '../../errors.ts'
import type { TypeCheck } from '@terrane/bundler'
import type { VersionRecord } from '../../registry/registry.ts'
import { needRegistry, type ControlDeps } from '../control-deps.ts'
import {
  FunctionList,
  FunctionParams,
  MinuteList,
  ProjectParams,
  VersionList,
  answers,
  describe,
  type VersionShown,
} from '../schemas.ts'

type Listed = Static<typeof FunctionList>['data'][number]

/** Fields of a function of a watched folder that are the same for all. */
const OF_FOLDER = { etag: null, version: 0, bytes: 0, created_by: 'folder', created_at: null, type_errors: null }

/** `GET …/functions`, `GET …/functions/{name}/versions` and `GET …/functions/{name}/minutes`. */
export function listRoutes(app: Http, deps: ControlDeps): void {
  const list = describe('List the functions of a project.', { params: ProjectParams, response: answers(FunctionList) })
  app.get('/v1/projects/:ref/functions', { schema: list }, async (request) => {
    const { ref } = request.params
    const deployed = (await deps.deployed?.registry.liveOf(ref)) ?? []
    const failures = new Map(deps.functions.failuresOf(ref))
    const problemOf = (name: string) => {
      const problem = failures.get(name) ?? null
      failures.delete(name)
      return problem
    }
    const data: Listed[] = deployed.map((record) => {
      const { name, etag } = record
      return { name, etag, ...shown(record), problem: problemOf(name), type_errors: null }
    })
    for (const { version } of deps.functions) {
      if (version.project !== ref || version.version !== 0) continue
      const { name, digest, policy } = version
      const found = typeErrors(deps.typesOf(name))
      data.push({ name, ...OF_FOLDER, digest, policy, problem: problemOf(name), type_errors: found })
    }
    for (const [name, problem] of failures) data.push({ name, ...OF_FOLDER, digest: '', policy: null, problem })
    return { data }
  })
  const versions = describe('List the versions of a function.', {
    params: FunctionParams,
    response: answers(VersionList),
  })
  app.get('/v1/projects/:ref/functions/:name/versions', { schema: versions }, async (request) => {
    const { ref, name } = request.params
    const { registry } = needRegistry(deps)
    const live = await registry.live(ref, name)
    const records = await registry.versions(ref, name)
    if (records.length === 0) throw functionNotFound({ name })
    return { data: records.map((record) => ({ ...shown(record), live: record.version === live?.version })) }
  })
}

/** Calls of a function in each of the last 60 minutes on this host. */
export function minutesRoute(app: Http, deps: ControlDeps): void {
  const schema = describe('Read what a function did in each of the last 60 minutes on this host.', {
    params: FunctionParams,
    response: answers(MinuteList),
  })
  app.get('/v1/projects/:ref/functions/:name/minutes', { schema }, async (request) => {
    const { ref, name } = request.params
    return { data: deps.metrics.minutesOf(ref, name) }
  })
}

function typeErrors(found: TypeCheck | null): string[] | null {
  return found && found.unchecked === null ? [...found.errors] : null
}

function shown({ version, digest, bytes, policy, createdBy, createdAt }: VersionRecord): VersionShown {
  return { version, digest, bytes, policy, created_by: createdBy, created_at: createdAt.toISOString() }
}
