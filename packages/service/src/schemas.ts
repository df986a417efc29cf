import { SerializerSelector, type SerializerFactory } from '@fastify/fast-json-stringify-compiler'
import addFormats from 'ajv-formats'
import { Ajv, type ValidateFunction } from 'ajv'
import type { Http } from './http-type.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Compiles every schema of every route now; throws the error of one that cannot be compiled. */
    compileSchemas(): void
  }
}

/** Values with fewer parts than this get all their errors at once. */
const FEW_PARTS = 2000

/** Compiles schemas at their first request: all take a second, many are never used. `compileSchemas` tests them. */
export class LateSchemas {
  readonly #all: (() => unknown)[] = []

  /** A factory of Fastify's serializers. */
  readonly buildSerializer: SerializerFactory = (schemas, options) => {
    const compile = SerializerSelector()(schemas, options)
    return (route) => {
      const serializer = this.#once(() => compile(route))
      return (data: unknown) => serializer()(data)
    }
  }

  /**
   * Texts of the query and the path are converted to numbers and booleans by the schema; bodies are never converted.
   * Validation stops at the first error, because a large body may have millions. Small bodies are then validated again
   * for all errors.
   */
  install(app: Http): void {
    const make = (coerceTypes: boolean) => {
      return { first: compilerOf(app, coerceTypes, false), every: compilerOf(app, coerceTypes, true) }
    }
    const compilers = { body: make(false), other: make(true) }
    app.setValidatorCompiler<object>(({ schema, httpPart }) => {
      const compiler = compilers[httpPart === 'body' ? 'body' : 'other']
      const first = this.#once(() => compiler.first(schema))
      const every = this.#once(() => compiler.every(schema))
      return (data: unknown) => {
        if (first()(data)) return true
        if (!hasFewParts(data)) return { error: failure(first()) }
        return every()(data) ? true : { error: failure(every()) }
      }
    })
    app.decorate('compileSchemas', () => {
      for (const compile of this.#all) compile()
    })
  }

  #once<T>(make: () => T): () => T {
    let made: { readonly value: T } | null = null
    const compile = () => (made ??= { value: make() }).value
    this.#all.push(compile)
    return compile
  }
}

/** Compiles schemas, which may refer to the schemas added to the app before. */
function compilerOf(app: Http, coerceTypes: boolean, allErrors: boolean): (schema: object) => ValidateFunction {
  const ajv = addFormats.default(
    // With `allErrors` each error includes its schema, which the error texts need.
    new Ajv({ useDefaults: true, removeAdditional: false, strict: false, coerceTypes, allErrors, verbose: allErrors }),
  )
  const known = new Set<string>()
  return (schema) => {
    for (const each of Object.values(app.getSchemas()) as { $id: string }[]) {
      if (!known.has(each.$id)) ajv.addSchema(each)
      known.add(each.$id)
    }
    return ajv.compile(schema)
  }
}

/** Error that Fastify expects of a validator. */
function failure({ errors }: { errors?: unknown }): Error {
  return Object.assign(new Error('the request does not fit the schema'), { validation: errors, statusCode: 400 })
}

function hasFewParts(data: unknown): boolean {
  const rest: unknown[] = [data]
  for (let seen = 0; rest.length > 0; seen++) {
    if (seen > FEW_PARTS) return false
    const value = rest.pop()
    if (value === null || typeof value !== 'object') continue
    const parts = Array.isArray(value) ? value : Object.keys(value)
    if (parts.length > FEW_PARTS) return false
    rest.push(...(Array.isArray(value) ? value : Object.values(value)))
  }
  return true
}
