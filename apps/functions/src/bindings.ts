/** A member of `env` other than a secret. */
export interface Binding {
  /**
   * `worker` adds no member to `env`; its name is `crons`, and its value is the list of a Worker's cron texts as JSON.
   */
  readonly kind: 'var' | 'json' | 'kv' | 'queue' | 'worker'
  readonly name: string
  /** The text, the JSON, the namespace, or the queue. */
  readonly value: string
}

/** Names that only the host sets. */
const RESERVED = /^(SUPABASE_|TERRANE_|DENO_|NODE_OPTIONS$|PROJECT_URL$|ANON_KEY$|SERVICE_ROLE_KEY$|SERVICES_KEY$)/
const NAMESPACE = /^[\w-]{1,64}$/
const QUEUE = /^[a-z][a-z0-9_-]{0,62}$/

/** True for a permitted name of a secret or a binding. */
export function isSecretName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name) && !RESERVED.test(name) && name !== '__proto__'
}

/** Reads `bindings` of a policy: `kind:NAME=value` each. */
export function readBindings(bindings: readonly string[]): Binding[] {
  return bindings.map((binding) => {
    const colon = binding.indexOf(':')
    const equals = binding.indexOf('=')
    return {
      kind: binding.slice(0, colon) as Binding['kind'],
      name: binding.slice(colon + 1, equals),
      value: binding.slice(equals + 1),
    }
  })
}

/** Problems of bindings, by their index in the list. */
export function problemsOfBindings(bindings: readonly string[]): Map<number, string> {
  const problems = new Map<number, string>()
  const names = new Set<string>()
  for (const [at, { kind, name, value }] of readBindings(bindings).entries()) {
    const problem = names.has(name) ? `names ${name} again` : problemOf({ kind, name, value })
    if (problem !== null) problems.set(at, problem)
    names.add(name)
  }
  return problems
}

function problemOf({ kind, name, value }: Binding): string | null {
  if (kind === 'worker') return name === 'crons' && isJson(value) ? null : 'has to be worker:crons= and JSON'
  if (!isSecretName(name)) return `names ${name}, which only the host sets`
  if (kind === 'json' && !isJson(value)) return `has to be JSON after json:${name}=`
  if (kind === 'kv' && !NAMESPACE.test(value))
    return `has to name a namespace after kv:${name}=: A-Z, a-z, 0-9, - and _, at most 64`
  if (kind === 'queue' && !QUEUE.test(value))
    return `has to name a queue after queue:${name}=: a-z, 0-9, _ and -, a letter first`
  return null
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
