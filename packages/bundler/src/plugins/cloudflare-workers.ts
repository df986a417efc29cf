import type { Plugin } from 'esbuild'

/** Key of the global that holds the members of `env`, which the runtime sets before it imports a bundle. */
const ENV = `Symbol.for('terrane.env')`

/** Replacement for `cloudflare:workers`: `env`, and classes that entry points of Workers extend. */
const MODULE = `class Base { constructor(ctx, env) { this.ctx = ctx; this.env = env } }
export class WorkerEntrypoint extends Base {}
export class DurableObject extends Base {}
export class WorkflowEntrypoint extends Base {}
export class RpcTarget {}
export const env = globalThis[${ENV}] ?? {}
export const waitUntil = (work) => globalThis.EdgeRuntime.waitUntil(work)
`

const NAMESPACE = 'cloudflare-workers'

/** The esbuild plugin that offers `cloudflare:workers`. */
export function cloudflareWorkers(): Plugin {
  return {
    name: 'cloudflare workers',
    setup(build) {
      build.onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: 'workers', namespace: NAMESPACE }))
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({ contents: MODULE, loader: 'js' }))
    },
  }
}
