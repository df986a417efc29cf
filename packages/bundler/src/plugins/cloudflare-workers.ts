import type { Plugin } from 'esbuild'

/** Key of the global that holds the members of `env`, which the runtime sets before it imports a bundle. */
const ENV = `Symbol.for('terrane.env')`

const MODULES: Readonly<Record<string, string>> = {
  // `env`, and classes that entry points of Workers extend.
  workers: `class Base { constructor(ctx, env) { this.ctx = ctx; this.env = env } }
export class WorkerEntrypoint extends Base {}
export class DurableObject extends Base {}
export class WorkflowEntrypoint extends Base {}
export class RpcTarget {}
export const env = globalThis[${ENV}] ?? {}
export const waitUntil = (work) => globalThis.EdgeRuntime.waitUntil(work)
`,
  // A server of `node:http` that listens answers by itself here, whatever its port.
  node: `export const httpServerHandler = () => ({})`,
}

const NAMESPACE = 'cloudflare-workers'

/** The esbuild plugin that offers `cloudflare:workers`, and of `cloudflare:node` the handler of a listening server. */
export function cloudflareWorkers(): Plugin {
  return {
    name: 'cloudflare workers',
    setup(build) {
      build.onResolve({ filter: /^cloudflare:(?:workers|node)$/ }, ({ path }) => ({
        path: path.slice('cloudflare:'.length),
        namespace: NAMESPACE,
      }))
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ contents: MODULES[path]!, loader: 'js' }))
    },
  }
}
