import type { Http } from '@terrane/service'
import type { Static } from 'typebox'
import { functionNotFound, invalidPolicy } from '../../errors.ts'
import { needRegistry, type ControlDeps } from '../control-deps.ts'
import type { Upload } from '../deployer.ts'
import {
  DeployBody,
  DeployQuery,
  DeployResult,
  FunctionParams,
  PROBLEMS,
  RenameBody,
  RollbackBody,
  RollbackResult,
  answers,
  describe,
} from '../schemas.ts'

const FUNCTION = '/v1/projects/:ref/functions/:name'
const UPLOAD_BYTES = 40 * 1024 * 1024

/** `PUT` and `DELETE …/functions/{name}`, `POST …/rollback` and `POST …/rename`. */
export function deployRoutes(app: Http, deps: ControlDeps): void {
  const deploy = describe('Deploy a version: bundle it, start it once, record it, and let it answer.', {
    params: FunctionParams,
    querystring: DeployQuery,
    body: DeployBody,
    response: { 200: DeployResult, 201: DeployResult, ...PROBLEMS },
  })
  app.put(FUNCTION, { bodyLimit: UPLOAD_BYTES, schema: deploy }, async (request, reply) => {
    const { ref, name } = request.params
    const match = /^"([^"]+)"$/.exec(request.headers['if-match'] ?? '')?.[1]
    const result = await needRegistry(deps).deployer.deploy(ref, name, readUpload(request.body), {
      ...(match !== undefined && { ifMatch: match }),
      dryRun: request.query.dry_run,
      by: 'service_role',
    })
    if (result.etag !== null) reply.header('etag', `"${result.etag}"`)
    return reply.code(result.unchanged || request.query.dry_run ? 200 : 201).send({ name, ...result })
  })

  const remove = describe('Remove a function, its versions and its secrets.', {
    params: FunctionParams,
    response: PROBLEMS,
  })
  app.delete(FUNCTION, { schema: remove }, async (request, reply) => {
    const { ref, name } = request.params
    const { deployer } = needRegistry(deps)
    if (!(await deployer.remove(ref, name))) throw functionNotFound({ name })
    return reply.code(204).send(undefined as never)
  })

  const rollback = describe('Let an earlier version answer again.', {
    params: FunctionParams,
    body: RollbackBody,
    response: answers(RollbackResult),
  })
  app.post(`${FUNCTION}/rollback`, { schema: rollback }, async (request, reply) => {
    const { ref, name } = request.params
    const { version, etag } = await needRegistry(deps).deployer.rollback(ref, name, request.body.version ?? null)
    return reply.header('etag', `"${etag}"`).send({ name, version, etag })
  })

  const rename = describe('Give a function another name, with its versions, secrets, hooks and state.', {
    params: FunctionParams,
    body: RenameBody,
    response: PROBLEMS,
  })
  app.post(`${FUNCTION}/rename`, { schema: rename }, async (request, reply) => {
    const { ref, name } = request.params
    if (!(await needRegistry(deps).deployer.rename(ref, name, request.body.to))) throw functionNotFound({ name })
    return reply.code(204).send(undefined as never)
  })
}

/** The files as bytes; the policy is the given one, or that of `function.json` among the files. */
function readUpload(body: Static<typeof DeployBody>): Upload {
  const files = new Map<string, Uint8Array>()
  for (const [path, content] of Object.entries(body.files)) {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content.base64, 'base64')
    files.set(path, bytes)
  }
  if (body.policy) return { files, policy: body.policy }
  const text = files.get('function.json')
  try {
    return { files, policy: text ? (JSON.parse(Buffer.from(text).toString('utf8')) as unknown) : {} }
  } catch {
    throw invalidPolicy({ errors: [{ path: '/', message: 'is not JSON' }] })
  }
}
