import type { Http } from '@terrane/service'
import { functionNotFound } from '../../errors.ts'
import type { TypesFound } from '../../imports/types.ts'
import type { VersionRecord } from '../../registry/registry.ts'
import { needRegistry, type ControlDeps } from '../control-deps.ts'
import {
  FunctionList,
  FunctionParams,
  ProjectParams,
  VersionList,
  answers,
  describe,
  type VersionShown,
} from '../schemas.ts'

/** `GET …/functions` and `GET …/functions/{name}/versions`. */
export function listRoutes(app: Http, deps: ControlDeps): void {
  const list = describe('List the functions of a project.', { params: ProjectParams, response: answers(FunctionList) })
  app.get('/v1/projects/:ref/functions', { schema: list }, async (request) => {
    const { ref } = request.params
    const deployed = (await deps.deployed?.registry.liveOf(ref)) ?? []
    const data = deployed.map((record) => ({
      name: record.name,
      etag: record.etag as string | null,
      ...shown(record),
      type_errors: null as string[] | null,
    }))
    for (const { version } of deps.functions) {
      if (version.project !== ref || version.version !== 0) continue
      const { name, digest, policy } = version
      data.push({
        name,
        etag: null,
        version: 0,
        digest,
        bytes: 0,
        policy,
        created_by: 'folder',
        created_at: null,
        type_errors: typeErrors(deps.typesOf(name)),
      })
    }
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

function typeErrors(found: TypesFound | null): string[] | null {
  return found && found.unchecked === null ? [...found.errors] : null
}

function shown({ version, digest, bytes, policy, createdBy, createdAt }: VersionRecord): VersionShown {
  return { version, digest, bytes, policy, created_by: createdBy, created_at: createdAt.toISOString() }
}
