import fs from 'node:fs'
import type { Plugin } from 'esbuild'

/** Built-in modules whose functions the runtime replaces at its start: a named import would still be the original. */
const MODULES: Readonly<Record<string, { readonly late: readonly string[]; readonly plain: string }>> = {
  tls: {
    late: ['connect'],
    plain: `TLSSocket, Server, SecureContext, createSecureContext, createServer, checkServerIdentity, getCiphers,
      rootCertificates, DEFAULT_CIPHERS, DEFAULT_ECDH_CURVE, DEFAULT_MIN_VERSION, DEFAULT_MAX_VERSION`,
  },
  dns: {
    late: ['lookup', 'resolve4'],
    plain: `promises, Resolver, resolve, resolve6, resolveAny, resolveCname, resolveMx, resolveNs, resolvePtr, resolveSoa,
      resolveSrv, resolveTxt, reverse, lookupService, setServers, getServers, ADDRCONFIG, V4MAPPED, ALL, NODATA, NOTFOUND,
      SERVFAIL, TIMEOUT, CANCELLED`,
  },
  'dns/promises': {
    late: ['lookup', 'resolve4'],
    plain: 'Resolver, resolve, resolve6, resolveMx, resolveSrv, resolveTxt, resolveNs, reverse',
  },
  fs: { late: [], plain: namesOf(fs) },
  'fs/promises': { late: [], plain: namesOf(fs.promises) },
}

const NAMESPACE = 'late-bound'

/** The esbuild plugin that replaces imports of these by functions that call the current ones, not `require`. */
export function lateBound(): Plugin {
  return {
    name: 'late bound',
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?(?:tls|dns|fs|(?:dns|fs)\/promises)$/ }, ({ path, kind, namespace }) => {
        if (namespace === NAMESPACE) return { path, external: true }
        if (kind !== 'import-statement' && kind !== 'dynamic-import') return null
        return { path: path.replace(/^node:/, ''), namespace: NAMESPACE }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({ contents: facade(path), loader: 'js' }))
    },
  }
}

function namesOf(module: object): string {
  return Object.keys(module)
    .filter((name) => /^[A-Za-z]\w*$/.test(name))
    .join(', ')
}

function facade(name: string): string {
  const { late, plain } = MODULES[name]!
  const bound = late.map((member) => `export const ${member} = (...args) => module.${member}(...args)`)
  return [
    `import module from 'node:${name}'`,
    ...bound,
    `export const { ${plain} } = module`,
    'export default module',
  ].join('\n')
}
