import type { Http } from '@terrane/service'
import { isSecretName } from '../../bindings.ts'
import { secretInvalid } from '../../errors.ts'
import { needRegistry, type ControlDeps } from '../control-deps.ts'
import { FunctionParams, PROBLEMS, ProjectParams, SecretList, SecretsBody, answers, describe } from '../schemas.ts'

/** `GET` and `PUT …/secrets` of the project, and `…/functions/{name}/secrets` of one function. */
export function secretRoutes(app: Http, deps: ControlDeps): void {
  for (const [path, params] of [
    ['/v1/projects/:ref/secrets', ProjectParams],
    ['/v1/projects/:ref/functions/:name/secrets', FunctionParams],
  ] as const) {
    const list = describe('List the names of secrets.', { params, response: answers(SecretList) })
    app.get(path, { schema: list }, async (request) => {
      const { ref, name = '' } = request.params as { ref: string; name?: string }
      const secrets = await needRegistry(deps).registry.secretNames(ref, name)
      return { data: secrets.map((secret) => ({ name: secret.name, updated_at: secret.updatedAt.toISOString() })) }
    })
    const change = describe('Set secrets; null takes one away. Instances that see them are replaced.', {
      params,
      body: SecretsBody,
      response: PROBLEMS,
    })
    app.put(path, { schema: change }, async (request, reply) => {
      const { ref, name = '' } = request.params as { ref: string; name?: string }
      const { registry, source } = needRegistry(deps)
      const wrong = Object.keys(request.body).filter((key) => !isSecretName(key))
      if (wrong.length > 0)
        throw secretInvalid({ errors: wrong.map((key) => ({ path: `/${key}`, message: 'is set by the host' })) })
      await registry.changeSecrets(ref, name, request.body)
      await source.look()
      return reply.code(204).send(undefined as never)
    })
  }
}
