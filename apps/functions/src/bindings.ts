/** A member of `env` that is no secret. */
export interface Binding {
  readonly kind: 'var' | 'json' | 'kv' | 'queue'
  readonly name: string
  /** The text, the JSON, the namespace, or the queue. */
  readonly value: string
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
